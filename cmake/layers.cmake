# tril_layer(folder "what is in it" USES folders... LINK libraries... COLD)
#
# One static library for each room: a folder under src/ that holds files, such as "ops" or "model/spec"; tril_ops and
# tril_model_spec are their targets. Its sources see its own headers and those of the folders it USES, as "folder/file.h": each
# folder's headers are reached through an include root that holds that one folder alone, so that an include pointing upwards
# does not compile. A COLD room waits for others, for files or for the network: in a release build it is compiled with -O1, in half of
# the time that -O3 takes (tril_hot_rooms_first keeps its instances of inline functions from the other rooms).
set(TRIL_WARNINGS -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
    -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Not in tests, whose sources are compiled together: a local name may be a function's of another test. And clang's counts
  # structured bindings and members that a lambda does not see.
  list(APPEND TRIL_WARNINGS $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TRIL_TEST>>>:-Wshadow>
      # GCC 12 sees overlaps and copies without an end in "literal" + std::string, where there are none.
      -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)  # and GCC 13 values that no one set, where a std::variant is moved
    list(APPEND TRIL_WARNINGS -Wno-maybe-uninitialized -Wno-free-nonheap-object)
  endif()
endif()

add_library(tril_options INTERFACE)
target_compile_options(tril_options INTERFACE ${TRIL_WARNINGS})
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects its garbage from 128 MiB on, which is a fifth of its time for sources that are compiled together. From 768 MiB on, the
  # largest takes 1.8 GB in place of 1.6.
  target_compile_options(tril_options INTERFACE "SHELL:--param ggc-min-heapsize=786432")
endif()
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|i.86)$")
  target_compile_options(tril_options INTERFACE -fsigned-char)  # as on x86, where the code was written; ARM's plain char has no sign
endif()
if(TRIL_NATIVE)
  target_compile_options(tril_options INTERFACE -march=native)
endif()
if(TRIL_SANITIZE)
  # Checks of null and of alignment are half of the time that GCC takes: the address sanitizer reports the first, the second
  # is kept where bytes from outside are read as numbers. Tests themselves are not what undefined behaviour is looked for in.
  # In kernels the address sanitizer checks each access; checks of each sum of a pointer and an index, read or not, and of the sizes of
  # objects are nine tenths of the time to compile products of blocks. These options stand here since those of a room come before them.
  # What is found ends the program: a test that only prints it would pass.
  target_compile_options(tril_options INTERFACE -fsanitize=${TRIL_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=null
    $<$<NOT:$<OR:$<STREQUAL:$<TARGET_PROPERTY:NAME>,tril_base>,$<STREQUAL:$<TARGET_PROPERTY:NAME>,tril_format>>>:-fno-sanitize=alignment>
    $<$<STREQUAL:$<TARGET_PROPERTY:NAME>,tril_kern>:-fno-sanitize=pointer-overflow,object-size>
    $<$<BOOL:$<TARGET_PROPERTY:TRIL_TEST>>:-fno-sanitize=undefined> -fno-omit-frame-pointer)
  target_link_options(tril_options INTERFACE -fsanitize=${TRIL_SANITIZE})
endif()

# Oniguruma has functions of POSIX's names (regcomp, regexec) that are not POSIX's: the C library comes before it, so that
# whoever calls these by their names, as GoogleTest does, gets the C library's.
target_link_options(tril_options INTERFACE "LINKER:--push-state,--no-as-needed,-lc,--pop-state")

# tril_unity(target): most of the compiler's time goes to the headers of libraries, which sources of one target share: TRIL_BATCH of
# them are compiled together. Names in the anonymous namespaces of one folder under src/ therefore differ from each other.
function(tril_unity target)
  if(TRIL_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${TRIL_BATCH})
    # GCC takes a joined source for a header, whose classes must not hold types of an anonymous namespace
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# tril_position_independent(target): rooms become part of programs, of the shared library, and of modules of other languages. Their
# names are hidden, so that the compiler may inline across functions as it does for a program, and that a library shows only what
# include/tril/export.h marks.
function(tril_position_independent target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# tril_precompile(pch LINK targets... OPTIONS compiler options... HEADERS headers...): precompiles the headers that most sources
# include, and HEADERS. tril_use_precompiled(target pch): a target uses them; its options must be the same, except for warnings.
function(tril_precompile pch)
  cmake_parse_arguments(PCH "" "" "LINK;OPTIONS;HEADERS" ${ARGN})
  if(NOT TRIL_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/${pch}.cpp CONTENT "")
  add_library(${pch} OBJECT ${PROJECT_BINARY_DIR}/${pch}.cpp)
  target_link_libraries(${pch} PRIVATE ${PCH_LINK})
  target_compile_options(${pch} PRIVATE ${PCH_OPTIONS})
  if(NOT PROJECT_IS_TOP_LEVEL)
    set_target_properties(${pch} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  target_precompile_headers(${pch} PRIVATE
    <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits> <map> <memory>
    <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
    <fmt/format.h> <nlohmann/json.hpp> ${PCH_HEADERS})
endfunction()

function(tril_use_precompiled target pch)
  if(TRIL_PCH)
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# tril_rooms_of(rooms targets...): the libraries of rooms that the targets use, directly or through others, those that are not COLD
# first.
function(tril_rooms_of rooms)
  set(found "")
  set(hot "")
  set(cold "")
  set(next ${ARGN})
  while(next)
    list(POP_FRONT next room)
    if(room MATCHES "^tril_" AND NOT room MATCHES "^tril_test" AND TARGET ${room} AND NOT room IN_LIST found)
      list(APPEND found ${room})
      get_target_property(type ${room} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        get_target_property(is_cold ${room} TRIL_COLD)
        if(is_cold)
          list(APPEND cold ${room})
        else()
          list(APPEND hot ${room})
        endif()
        get_target_property(links ${room} LINK_LIBRARIES)
        list(APPEND next ${links})
      endif()
    endif()
  endwhile()
  set(${rooms} ${hot} ${cold} PARENT_SCOPE)
endfunction()

# tril_first(target rooms...): these rooms come before the target's own objects in the command of the linker, which keeps the first
# instance of an inline function or template that it finds.
function(tril_first target)
  set(archives "")
  foreach(room IN LISTS ARGN)
    string(APPEND archives " \"$<TARGET_FILE:${room}>\"")
  endforeach()
  target_link_options(${target} PRIVATE "SHELL:-Wl,--whole-archive${archives} -Wl,--no-whole-archive")
endfunction()

# tril_hot_rooms_first(target rooms...): a program or library that uses these rooms takes inline functions from those that are not
# COLD, which are compiled for speed.
function(tril_hot_rooms_first target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")  # all are compiled alike
    return()
  endif()
  tril_rooms_of(rooms ${ARGN})
  set(hot "")
  foreach(room IN LISTS rooms)
    get_target_property(is_cold ${room} TRIL_COLD)
    if(NOT is_cold)
      list(APPEND hot ${room})
    endif()
  endforeach()
  tril_first(${target} ${hot})
endfunction()

function(tril_layer folder sentence)
  cmake_parse_arguments(LAYER "COLD" "" "USES;LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "src/cli/commands/main\\.cpp$")
  string(REPLACE "/" "_" name ${folder})

  # include-roots/<name>/<folder> -> src/<folder>
  set(root ${PROJECT_BINARY_DIR}/include-roots/${name})
  get_filename_component(above ${root}/${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${above})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder} ${root}/${folder} SYMBOLIC)

  add_library(tril_${name} STATIC ${sources})
  set_target_properties(tril_${name} PROPERTIES LINKER_LANGUAGE CXX)
  tril_position_independent(tril_${name})
  if(NOT PROJECT_IS_TOP_LEVEL)  # a project that adds this one builds what it links
    set_target_properties(tril_${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  if(NOT folder STREQUAL "kern")  # Highway compiles its sources once for each instruction set
    tril_unity(tril_${name})
    set(pch tril_pch)
    if(LAYER_COLD AND CMAKE_BUILD_TYPE STREQUAL "Release")
      set(pch tril_cold_pch)
      target_compile_options(tril_${name} PRIVATE -O1)
      set_target_properties(tril_${name} PROPERTIES TRIL_COLD ON)
    endif()
    if(TARGET ${pch})
      tril_use_precompiled(tril_${name} ${pch})
    endif()
  elseif(TRIL_SANITIZE OR TRIL_QUICK)  # all else is compiled for seconds and runs for one; without -O1, kernels run for minutes
    target_compile_options(tril_${name} PRIVATE -O1)
    if(TRIL_FUZZ OR TRIL_SANITIZE STREQUAL "thread")  # readers and races are the same in any table; three take a minute more
      target_compile_definitions(tril_${name} PRIVATE TRIL_GENERIC_KERNELS)
    elseif(TRIL_SANITIZE)  # the programs that run there use the best table of the machine, and none compares tables
      target_compile_definitions(tril_${name} PRIVATE TRIL_NO_AVX2_KERNELS)
    endif()
  endif()
  target_include_directories(tril_${name} PUBLIC ${root})
  target_link_libraries(tril_${name} PUBLIC tril_options)
  foreach(lower IN LISTS LAYER_USES)
    string(REPLACE "/" "_" lower_name ${lower})
    if(NOT TARGET tril_${lower_name})
      message(FATAL_ERROR "${folder} uses ${lower}, which does not stand above it in CMakeLists.txt")
    endif()
    target_link_libraries(tril_${name} PUBLIC tril_${lower_name})
  endforeach()
  target_link_libraries(tril_${name} PUBLIC ${LAYER_LINK})
  string(REPLACE ";" " " used "${LAYER_USES}")
  set_property(GLOBAL APPEND_STRING PROPERTY TRIL_ROOMS "${folder}|${sentence}|${used}\n")
endfunction()

# tril_write_rooms(): the list of all rooms, in their order, for those who draw or check it.
function(tril_write_rooms)
  get_property(rooms GLOBAL PROPERTY TRIL_ROOMS)
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/rooms.txt CONTENT "@rooms@" @ONLY)
endfunction()

# tril_leave_out(folder files...): sources of a folder that this build has no use for.
function(tril_leave_out folder)
  string(REPLACE "/" "_" name ${folder})
  get_target_property(sources tril_${name} SOURCES)
  foreach(file IN LISTS ARGN)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/src/${folder}/${file})
  endforeach()
  set_target_properties(tril_${name} PROPERTIES SOURCES "${sources}")
endfunction()
