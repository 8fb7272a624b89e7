/* tril for C, and for every language that calls C: open a model, translate, generate, tokenise, score, look inside.
 *
 * Ownership: a function that returns a handle or a char* that is not const gives it to the caller, who frees it once with the
 * function named there; freeing NULL does nothing. A const pointer into a result is valid until the result is freed. Arguments are
 * copied or only read during the call. A translator, generator, scorer, tokenizer or tracer keeps what it needs of its model, so
 * that the model may be freed first.
 *
 * Errors: a function that can fail takes `tril_error** error` as its last argument and returns NULL. *error is then a new error,
 * for tril_error_free(), or NULL if there is no memory for one; after a success it is NULL. `error` may be NULL. No C++ exception leaves a function.
 *
 * Threads: functions that take const handles may be called from several threads at once. Calls that take the same translator,
 * generator or scorer wait for each other. A handle must not be freed while a call uses it.
 *
 * Texts are UTF-8 and end with a zero byte. docs/c.md has examples. */
#ifndef TRIL_C_H
#define TRIL_C_H

#include <stddef.h>
#include <stdint.h>
#include <tril/export.h>
#include <tril/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0": the version of the library, which TRIL_VERSION is for the headers. */
TRIL_API const char* tril_version(void);
/* The binary interface of the library. A program that loads the library at run time compares it with TRIL_ABI_VERSION. */
TRIL_API int tril_abi_version(void);

/* --- errors --- */

/* An error: what went wrong, where, and what to try. */
typedef struct tril_error tril_error;

/* Who is at fault. */
typedef enum tril_error_kind {
  TRIL_FAILURE = 1, /* a file or the system is at fault */
  TRIL_USAGE = 2    /* the call is wrong: an unknown option, a value outside its limits */
} tril_error_kind;

/* Whether the call is wrong, or a file or the system. */
TRIL_API tril_error_kind tril_error_get_kind(const tril_error* error);
/* All of it in one line: where, what, and what to try. */
TRIL_API const char* tril_error_message(const tril_error* error);
/* The file, option or text that is wrong: "beam_size", "text 3", "model.safetensors"; may be empty. */
TRIL_API const char* tril_error_where(const tril_error* error);
/* What to try; may be empty. */
TRIL_API const char* tril_error_hint(const tril_error* error);
/* Frees an error. NULL is allowed. */
TRIL_API void tril_error_free(tril_error* error);

/* Frees the char* that a function returned. */
TRIL_API void tril_string_free(char* text);

/* --- options ---
 * Those of the program's commands, with the same names, limits and defaults (docs/options.md). They are checked by the function
 * that takes them. Every function that takes options accepts NULL: none. */

/* Options by name. */
typedef struct tril_options tril_options;

/* NULL only if memory is exhausted. */
TRIL_API tril_options* tril_options_new(void);
/* Sets an option, or adds a value to it if it is a list that has some: ("beam-size", "6"), ("stop", "\n"). A mistake, such as
 * NULL, is the error of the function that takes the options. */
TRIL_API void tril_options_set(tril_options* options, const char* name, const char* value);
/* Frees options. NULL is allowed. */
TRIL_API void tril_options_free(tril_options* options);

/* --- models --- */

/* An opened model. */
typedef struct tril_model tril_model;

/* Opens a model by its path, or by its name on a hub, "Helsinki-NLP/opus-mt-en-de". Options: "precision", "adapter", "models" (further
 * models, which form an ensemble with this one), "weights", "draft-model" and more, and "pull": "true" downloads a model that is
 * not in Hugging Face's cache. For tril_model_free(). */
TRIL_API tril_model* tril_model_open(const char* path_or_name, const tril_options* options, tril_error** error);
/* 1: an encoder-decoder model, which translates. 0: a language model. */
TRIL_API int tril_model_has_encoder(const tril_model* model);
/* Frees a model. NULL is allowed. */
TRIL_API void tril_model_free(tril_model* model);

/* --- requests to stop --- */

/* A request to stop, which calls look at after every step. */
typedef struct tril_stop tril_stop;

/* NULL only if memory is exhausted. One may serve several calls. */
TRIL_API tril_stop* tril_stop_new(void);
/* From any thread: calls that got it finish their current step and return what they have. It cannot be taken back. */
TRIL_API void tril_stop_request(tril_stop* stop);
/* Frees a request to stop; no running call may still use it. NULL is allowed. */
TRIL_API void tril_stop_free(tril_stop* stop);

/* Why a text ended. */
typedef enum tril_stop_reason {
  TRIL_END_TOKEN = 0,
  TRIL_STOP_STRING = 1,
  TRIL_LENGTH = 2,
  TRIL_POSITIONS = 3,
  TRIL_DEAD_END = 4,
  TRIL_TIME_LIMIT = 5,
  TRIL_CANCELLED = 6,
  TRIL_REFUSED = 7
} tril_stop_reason;

/* --- results of translators and generators ---
 * Lists of texts, one for each input: its translations, best first, or its generations. An index outside the lists gives NULL or
 * 0. For tril_results_free(). */

/* Texts with their scores. */
typedef struct tril_results tril_results;

/* Number of inputs. */
TRIL_API size_t tril_results_size(const tril_results* results);
/* Number of texts for an input. */
TRIL_API size_t tril_results_count(const tril_results* results, size_t input);
/* A text, in UTF-8. */
TRIL_API const char* tril_results_text(const tril_results* results, size_t input, size_t rank);
/* What texts are ranked by. 0 from greedy search and sampling, unless the option "scores" is "true". */
TRIL_API double tril_results_score(const tril_results* results, size_t input, size_t rank);
/* The natural logarithm of the text's probability, with the same exception. */
TRIL_API double tril_results_log_prob(const tril_results* results, size_t input, size_t rank);
/* Why a text ended. */
TRIL_API tril_stop_reason tril_results_stop_reason(const tril_results* results, size_t input, size_t rank);
/* The generated tokens. @count gets their number. */
TRIL_API const int32_t* tril_results_tokens(const tril_results* results, size_t input, size_t rank, size_t* count);
/* A token of the source and a token of the translation that correspond, counted from 0. */
typedef struct tril_alignment_point {
  int32_t source; /* index of the source's token */
  int32_t target; /* index of the translation's token */
} tril_alignment_point;

/* With a translator's option "alignment": the tokens of the source with its end token; otherwise none. */
TRIL_API const int32_t* tril_results_source_tokens(const tril_results* results, size_t input, size_t rank,
                                                   size_t* count);
/* Likewise the cross-attention: for each token of the text, in order, its weights of all source tokens, which sum to 1. @count
 * gets tokens * source tokens. */
TRIL_API const float* tril_results_attention(const tril_results* results, size_t input, size_t rank, size_t* count);
/* Likewise the pairs, if "alignment" is "hard" or a threshold. @count gets their number. */
TRIL_API const tril_alignment_point* tril_results_alignment(const tril_results* results, size_t input, size_t rank,
                                                            size_t* count);
/* A phrase and the translation that it must have, in UTF-8. */
typedef struct tril_term {
  const char* source; /* the phrase */
  const char* target; /* its translation */
} tril_term;

/* With a translator's option "terminology" or "glossary": the phrases that are in the text. @count gets their number. */
TRIL_API const tril_term* tril_results_terms(const tril_results* results, size_t input, size_t rank, size_t* count);
/* Those of them whose translation is not in the text that was found. @count gets their number. */
TRIL_API const tril_term* tril_results_missing_terms(const tril_results* results, size_t input, size_t rank,
                                                     size_t* count);
/* With a translator's option "memory": 1 if the text is from there, else 0. */
TRIL_API int tril_results_recalled(const tril_results* results, size_t input, size_t rank);
/* Frees results, with all texts and arrays that were read from them. NULL is allowed. */
TRIL_API void tril_results_free(tril_results* results);

/* --- translation --- */

/* Threads, memory and options for translating with a model. */
typedef struct tril_translator tril_translator;

/* Options: "source-language", "target-language", "threads", "beam-size", "n-best", "split", "alignment", "terminology",
 * "glossary", "memory" and more. For tril_translator_free(). */
TRIL_API tril_translator* tril_translator_new(const tril_model* model, const tril_options* options, tril_error** error);
/* The best translation of one text. For tril_string_free(). */
TRIL_API char* tril_translate(tril_translator* translator, const char* text, tril_error** error);
/* The "n-best" translations of each text. One call with many texts is much faster than many calls. @stop may be NULL. */
TRIL_API tril_results* tril_translate_batch(tril_translator* translator, const char* const* texts, size_t count,
                                            const tril_stop* stop, tril_error** error);
/* Frees a translator. NULL is allowed. */
TRIL_API void tril_translator_free(tril_translator* translator);

/* --- generation --- */

/* Threads, memory and options for generating with a model. */
typedef struct tril_generator tril_generator;

/* Receives a piece of a text: whole characters, which later tokens cannot change. The last piece of each has `ended` 1. Called
 * from other threads than the caller's, one at a time, while the caller's thread waits; it must not use the generator. Returns 0 to go
 * on, anything else to stop all texts of the call. */
typedef int (*tril_on_text)(void* user, size_t prompt, int32_t sample, const char* text, int ended);

/* How a call is watched. Members that are 0 are not used. */
typedef struct tril_watch {
  tril_on_text on_text;  /* not called in beam search */
  void* user;            /* passed to on_text */
  const tril_stop* stop; /* a request to stop the call */
} tril_watch;

/* A turn of a conversation. */
typedef struct tril_message {
  const char* role;    /* "system", "user", "assistant" */
  const char* content; /* what was said */
} tril_message;

/* Options: "max-new-tokens", "temperature", "top-p", "stop", "seed", "n", "threads", "regex", "json-schema" and more.
 * For tril_generator_free(). */
TRIL_API tril_generator* tril_generator_new(const tril_model* model, const tril_options* options, tril_error** error);
/* The "n" texts that follow each prompt. @watch may be NULL. */
TRIL_API tril_results* tril_generate(tril_generator* generator, const char* const* prompts, size_t count,
                                     const tril_watch* watch, tril_error** error);
/* The "n" answers to a conversation, by the model's chat template; the result has one input. @watch may be NULL. */
TRIL_API tril_results* tril_chat(tril_generator* generator, const tril_message* messages, size_t count,
                                 const tril_watch* watch, tril_error** error);
/* Frees a generator. NULL is allowed. */
TRIL_API void tril_generator_free(tril_generator* generator);

/* --- tokens --- */

/* A model's vocabularies. */
typedef struct tril_tokenizer tril_tokenizer;
/* The ids of a text. */
typedef struct tril_ids tril_ids;

enum {
  TRIL_TARGET_SIDE = 1,   /* the vocabulary of translations, where it differs from that of sources */
  TRIL_SPECIAL_TOKENS = 2 /* encode: add the tokens that the model expects around a text; decode: keep special tokens */
};

/* Reads only the tokenizer of a model. Options: "pull". For tril_tokenizer_free(). */
TRIL_API tril_tokenizer* tril_tokenizer_open(const char* path_or_name, const tril_options* options, tril_error** error);
/* @flags  0, or a sum of the two above. For tril_ids_free(). */
TRIL_API tril_ids* tril_encode(const tril_tokenizer* tokenizer, const char* text, unsigned flags, tril_error** error);
/* The ids, as many as tril_ids_size() says. */
TRIL_API const int32_t* tril_ids_data(const tril_ids* ids);
/* The number of ids. */
TRIL_API size_t tril_ids_size(const tril_ids* ids);
/* Frees tokens. NULL is allowed. */
TRIL_API void tril_ids_free(tril_ids* ids);
/* For tril_string_free(). */
TRIL_API char* tril_decode(const tril_tokenizer* tokenizer, const int32_t* ids, size_t count, unsigned flags,
                           tril_error** error);
/* Frees a tokenizer. NULL is allowed. */
TRIL_API void tril_tokenizer_free(tril_tokenizer* tokenizer);

/* --- scores --- */

/* Threads, memory and options for scoring with a model. */
typedef struct tril_scorer tril_scorer;
/* Log-probabilities of texts. */
typedef struct tril_scores tril_scores;

/* Options: "source-language", "target-language", "threads", "alignment", "begin" and more. For tril_scorer_free(). */
TRIL_API tril_scorer* tril_scorer_new(const tril_model* model, const tril_options* options, tril_error** error);
/* log p(target | source) of each pair. For tril_scores_free(). */
TRIL_API tril_scores* tril_score(tril_scorer* scorer, const char* const* sources, const char* const* targets,
                                 size_t count, tril_error** error);
/* log p(text) of each text, for a language model. For tril_scores_free(). */
TRIL_API tril_scores* tril_score_texts(tril_scorer* scorer, const char* const* texts, size_t count, tril_error** error);
/* Of a pair or text; 0 for an index outside. */
TRIL_API double tril_scores_log_prob(const tril_scores* scores, size_t index);
/* The log-probability of each scored token. @count gets their number. */
TRIL_API const float* tril_scores_tokens(const tril_scores* scores, size_t index, size_t* count);
/* With a scorer's option "alignment", of a pair: the tokens of the target with its end token; otherwise none. @count gets their
 * number. */
TRIL_API const int32_t* tril_scores_target_tokens(const tril_scores* scores, size_t index, size_t* count);
/* Likewise the tokens of the source with its end token. */
TRIL_API const int32_t* tril_scores_source_tokens(const tril_scores* scores, size_t index, size_t* count);
/* Likewise the cross-attention: for each token of the target, in order, its weights of all source tokens, which sum to 1. @count
 * gets target tokens * source tokens. */
TRIL_API const float* tril_scores_attention(const tril_scores* scores, size_t index, size_t* count);
/* Likewise the pairs, if "alignment" is "hard" or a threshold. @count gets their number. */
TRIL_API const tril_alignment_point* tril_scores_alignment(const tril_scores* scores, size_t index, size_t* count);
/* Frees scores. NULL is allowed. */
TRIL_API void tril_scores_free(tril_scores* scores);
/* Frees a scorer. NULL is allowed. */
TRIL_API void tril_scorer_free(tril_scorer* scorer);

/* --- traces: what a model computes in one pass over a text (docs/trace.md) --- */

/* A model that is looked into. Its calls run side by side. */
typedef struct tril_tracer tril_tracer;
/* The values of one pass, in the order of computation. An index outside gives NULL or 0. */
typedef struct tril_traced tril_traced;

/* What the elements of a value are. */
typedef enum tril_element_type {
  TRIL_NO_VALUE = 0, /* an index outside */
  TRIL_FLOAT32 = 1,  /* of most points */
  TRIL_INT32 = 2,    /* tokens, and the experts that a mixture chose */
  TRIL_UINT8 = 3     /* masks: 1 where a query may attend to a key */
} tril_element_type;

/* Options: "only" (patterns of the points to keep; without it all are kept), "edit", "patch-text", "patch-target", "gradients",
 * "max-bytes", "source-language", "target-language". For tril_tracer_free(). */
TRIL_API tril_tracer* tril_tracer_new(const tril_model* model, const tril_options* options, tril_error** error);
/* One pass, which takes one core. @text is what the encoder reads; in a language model, what comes first. @target is what the
 * decoder should say, or what follows; NULL: nothing is given. @stop may be NULL; a call that it stops fails.
 * For tril_traced_free(). */
TRIL_API tril_traced* tril_trace(const tril_tracer* tracer, const char* text, const char* target, const tril_stop* stop,
                                 tril_error** error);
/* The number of values. */
TRIL_API size_t tril_traced_size(const tril_traced* traced);
/* The index of the value with this name, or tril_traced_size() if no such value was kept. */
TRIL_API size_t tril_traced_find(const tril_traced* traced, const char* name);
/* "decoder.0.self.q" */
TRIL_API const char* tril_traced_name(const tril_traced* traced, size_t index);
/* The sizes of the value's dimensions: tokens, heads, width of a head. @rank gets their number. */
TRIL_API const int64_t* tril_traced_shape(const tril_traced* traced, size_t index, size_t* rank);
/* Of the value's elements. */
TRIL_API tril_element_type tril_traced_type(const tril_traced* traced, size_t index);
/* The elements, row by row: float, int32_t or uint8_t. Their number is the product of the shape. */
TRIL_API const void* tril_traced_data(const tril_traced* traced, size_t index);
/* Frees the values, with all arrays that were read from them. NULL is allowed. */
TRIL_API void tril_traced_free(tril_traced* traced);
/* Frees a tracer. NULL is allowed. */
TRIL_API void tril_tracer_free(tril_tracer* tracer);

#ifdef __cplusplus
}
#endif

#endif
