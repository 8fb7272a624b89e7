#!/bin/sh
# Doxygen's filter for tril_c.h: its comments become those that doxygen reads. A line "/* --- title ---" stays a plain comment.
# usage: c_comments.sh FILE
sed -e 's#@\([a-z]*\)#`\1`#g' -e '1s#^/\* #/** @file\n * #' -e 's#^/\* \([^-]\)#/** \1#' -e 's#\([;,A-Z0-9]\)  */\* #\1 /**< #' "$1"
