# Joins static libraries to one. cmake -DAR=ar -DARCHIVE=libtril.a -DPARTS=a.a|b.a -P join_archives.cmake
string(REPLACE "|" "\naddlib " parts "${PARTS}")
file(WRITE ${ARCHIVE}.script "create ${ARCHIVE}\naddlib ${parts}\nsave\nend\n")
execute_process(COMMAND ${AR} -M INPUT_FILE ${ARCHIVE}.script RESULT_VARIABLE failed)
file(REMOVE ${ARCHIVE}.script)
if(failed)
  message(FATAL_ERROR "${AR} cannot join the rooms' libraries to ${ARCHIVE}")
endif()
