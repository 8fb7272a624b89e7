# tril_started_as(path target): the path by which other processes start a program of this build. A program of a cross compiler does not
# run by itself: there it is the path of a script that starts it in the emulator (CMAKE_CROSSCOMPILING_EMULATOR). The scripts stand
# below emulated/ as the programs do below the build folder.
function(tril_started_as path target)
  if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(${path} $<TARGET_FILE:${target}> PARENT_SCOPE)
    return()
  endif()
  get_target_property(folder ${target} BINARY_DIR)
  file(RELATIVE_PATH place ${PROJECT_BINARY_DIR} ${folder}/${target})
  set(script ${PROJECT_BINARY_DIR}/emulated/${place})
  list(JOIN CMAKE_CROSSCOMPILING_EMULATOR "' '" emulator)
  file(GENERATE OUTPUT ${script} CONTENT "#!/bin/sh\nexec '${emulator}' '$<TARGET_FILE:${target}>' \"$@\"\n"
    FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  set(${path} ${script} PARENT_SCOPE)
endfunction()
