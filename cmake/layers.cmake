# tril_layer(name USES lower-folders... LINK libraries...)
#
# One static library for each folder under src/. Its sources see its own headers and those of the folders it USES, as
# "folder/file.h": each folder's headers are reached through an include root that holds that one folder alone, so that
# an include pointing upwards does not compile.
set(TRIL_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
    -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(APPEND TRIL_WARNINGS -Wno-restrict)  # GCC 12 sees an overlap in "literal" + std::string where there is none
endif()

add_library(tril_options INTERFACE)
target_compile_options(tril_options INTERFACE ${TRIL_WARNINGS})
if(TRIL_NATIVE)
  target_compile_options(tril_options INTERFACE -march=native)
endif()
if(TRIL_SANITIZE)
  # Checks of null and of alignment are half of the time that GCC takes: the address sanitizer reports the first, the second
  # is kept where bytes from outside are read as numbers. Tests themselves are not what undefined behaviour is looked for in.
  target_compile_options(tril_options INTERFACE -fsanitize=${TRIL_SANITIZE} -fno-sanitize=null
    $<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,tril_base>>:-fno-sanitize=alignment>
    $<$<BOOL:$<TARGET_PROPERTY:TRIL_TEST>>:-fno-sanitize=undefined> -fno-omit-frame-pointer -g1)
  target_link_options(tril_options INTERFACE -fsanitize=${TRIL_SANITIZE})
endif()

# Oniguruma has functions of POSIX's names (regcomp, regexec) that are not POSIX's: the C library comes before it, so that
# whoever calls these by their names, as GoogleTest does, gets the C library's.
target_link_options(tril_options INTERFACE "LINKER:--push-state,--no-as-needed,-lc,--pop-state")

function(tril_layer name)
  cmake_parse_arguments(LAYER "" "" "USES;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "src/cli/main\\.cpp$")

  # include-roots/<name>/<name> -> src/<name>
  set(root ${CMAKE_BINARY_DIR}/include-roots/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/src/${name} ${root}/${name} SYMBOLIC)

  add_library(tril_${name} STATIC ${sources})
  set_target_properties(tril_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(tril_${name} PUBLIC ${root})
  target_link_libraries(tril_${name} PUBLIC tril_options)
  foreach(lower IN LISTS LAYER_USES)
    target_link_libraries(tril_${name} PUBLIC tril_${lower})
  endforeach()
  target_link_libraries(tril_${name} PUBLIC ${LAYER_LINK})
endfunction()

# tril_leave_out(name files...): sources of a folder that this build has no use for.
function(tril_leave_out name)
  get_target_property(sources tril_${name} SOURCES)
  foreach(file IN LISTS ARGN)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/src/${name}/${file})
  endforeach()
  set_target_properties(tril_${name} PROPERTIES SOURCES "${sources}")
endfunction()
