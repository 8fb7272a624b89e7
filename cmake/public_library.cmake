# The library for other projects: include/tril/, without lab.h. libtril.so shows only what cmake/install/tril.map names; libtril.a,
# of the target tril_archive, holds all rooms that it needs. `cmake --install` has the components program, runtime (libtril.so.0),
# development (headers, CMake's and pkg-config's files) and static.
#
# In this build, and in a project that adds this one:
#   tril::tril    libtril.so, or tril::static where TRIL_SHARED is off
#   tril::static  the rooms themselves
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(tril_parts INTERFACE)
add_library(tril::static ALIAS tril_parts)
target_include_directories(tril_parts INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_features(tril_parts INTERFACE cxx_std_20)
target_link_libraries(tril_parts INTERFACE $<LINK_ONLY:tril_capi> $<LINK_ONLY:tril_library>)

if(TRIL_SHARED)
  add_library(tril_shared SHARED $<TARGET_OBJECTS:tril_library> $<TARGET_OBJECTS:tril_capi>)
  add_library(tril::tril ALIAS tril_shared)
  set_target_properties(tril_shared PROPERTIES OUTPUT_NAME tril EXPORT_NAME tril LINKER_LANGUAGE CXX
    SOVERSION ${TRIL_ABI_VERSION} VERSION ${PROJECT_VERSION} LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/install/tril.map)
  target_include_directories(tril_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tril_shared INTERFACE cxx_std_20)
  target_link_libraries(tril_shared PRIVATE tril_capi tril_library)
  tril_hot_rooms_first(tril_shared tril_capi tril_library)
  target_link_options(tril_shared PRIVATE "LINKER:--version-script,${PROJECT_SOURCE_DIR}/cmake/install/tril.map"
    "LINKER:--no-undefined")
else()
  add_library(tril::tril ALIAS tril_parts)
endif()

# tril_parts_of(rooms libraries): the rooms that tril_capi and tril_library use, and the libraries that these use.
function(tril_parts_of rooms libraries)
  set(found "")
  set(others "")
  set(next tril_capi tril_library)
  while(next)
    list(POP_FRONT next one)
    if(one IN_LIST found OR one IN_LIST others OR one STREQUAL "tril_options")
      continue()
    elseif(one MATCHES "^tril_" AND NOT one MATCHES "^tril_(dnnl|hwy|sentencepiece|cld2)$")
      list(APPEND found ${one})
      get_target_property(links ${one} LINK_LIBRARIES)
      list(APPEND next ${links})
    elseif(NOT one STREQUAL "nlohmann_json::nlohmann_json")  # headers alone
      list(APPEND others ${one})
    endif()
  endwhile()
  set(${rooms} ${found} PARENT_SCOPE)
  set(${libraries} ${others} PARENT_SCOPE)
endfunction()

tril_parts_of(rooms TRIL_LIBRARIES)
set(archives "")
foreach(room IN LISTS rooms)
  list(APPEND archives $<TARGET_FILE:${room}>)
endforeach()
set(archive ${PROJECT_BINARY_DIR}/libtril.a)
add_custom_command(OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -DAR=${CMAKE_AR} -DARCHIVE=${archive} "-DPARTS=$<JOIN:${archives},|>"
    -P ${PROJECT_SOURCE_DIR}/cmake/install/join_archives.cmake
  DEPENDS ${rooms} ${PROJECT_SOURCE_DIR}/cmake/install/join_archives.cmake VERBATIM)
add_custom_target(tril_archive DEPENDS ${archive})

if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
install(DIRECTORY include/tril DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development PATTERN lab.h EXCLUDE)
install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT static OPTIONAL)  # if it was built
set(files ${CMAKE_INSTALL_LIBDIR}/cmake/tril)
if(TRIL_SHARED)
  install(TARGETS tril_shared EXPORT tril-shared
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development)
  install(EXPORT tril-shared NAMESPACE tril:: DESTINATION ${files} COMPONENT development)
endif()
file(RELATIVE_PATH TRIL_PREFIX_OF_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/install/tril.pc.in ${PROJECT_BINARY_DIR}/tril.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tril.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
configure_package_config_file(cmake/install/tril-config.cmake.in ${PROJECT_BINARY_DIR}/tril-config.cmake
  INSTALL_DESTINATION ${files} PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tril-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tril-config.cmake ${PROJECT_BINARY_DIR}/tril-config-version.cmake
  cmake/library_dependencies.cmake DESTINATION ${files} COMPONENT development)
