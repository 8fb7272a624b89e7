# The terms of nanobind and of its hash table, which are inside the module: TERMS/nanobind and TERMS/robin-map.
#   cmake -D NB_DIR=FOLDER_OF_NANOBIND -D Python_EXECUTABLE=PYTHON -D TERMS=FOLDER -P terms.cmake
# pip has nanobind's among the metadata of its package; the sources have them at their top, and Debian beside its other documents.
execute_process(OUTPUT_VARIABLE nanobind_terms OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE ignored ERROR_QUIET
  COMMAND ${Python_EXECUTABLE} -c "import importlib.metadata as m
print(next(f.locate() for f in m.files('nanobind') if 'LICENSE' in f.name))")
foreach(file IN ITEMS ${NB_DIR}/LICENSE /usr/share/doc/nanobind-dev/copyright)
  if(NOT nanobind_terms AND EXISTS ${file})
    set(nanobind_terms ${file})
  endif()
endforeach()
if(NOT nanobind_terms)
  message(FATAL_ERROR "nanobind's terms, which a package must hold, were not found for ${NB_DIR}: take nanobind from pip, or put its LICENSE there")
endif()
configure_file(${nanobind_terms} ${TERMS}/nanobind COPYONLY)

find_file(robin_hash NAMES tsl/robin_hash.h PATHS ${NB_DIR}/ext/robin_map/include NO_CACHE)
if(NOT robin_hash)
  message(FATAL_ERROR "tsl/robin_hash.h, whose first comment has the terms of nanobind's hash table, was not found for ${NB_DIR}")
endif()
file(READ ${robin_hash} text)
string(FIND "${text}" "*/" end)
string(SUBSTRING "${text}" 0 ${end} text)
string(REGEX REPLACE "\n \\*/?[ ]?" "\n" text "${text}")
string(REGEX REPLACE "^/\\*+\n" "" text "${text}")
string(STRIP "${text}" text)
if(NOT text MATCHES "Permission is hereby granted")
  message(FATAL_ERROR "${robin_hash} does not begin with its terms")
endif()
file(WRITE ${TERMS}/robin-map "${text}\n")
