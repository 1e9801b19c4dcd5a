// Package fakemodel is a model server without a model, for tests of real agent programs: an http.Handler that speaks
// Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini generateContent, streaming or not, and plays
// a script. It finds the Conclave header in the prompt of each request, so one script serves all turns of a run. It
// keeps no state for a conversation: how far a turn is stands in what the program sends back.
package fakemodel
