-- Reads only: the texts of responses as they were recorded, false for those that a retry or a deletion took back since.
-- A script, because a server whose memory is full may refuse transactions, even those that only read.
-- ARGV: job id, a JSON list of pairs of request id, cursor
local job, texts = ARGV[1], {}
for i, recorded in ipairs(cjson.decode(ARGV[2])) do
  local current = call('HGET', key('response', job) .. recorded[1], 'cursor') == recorded[2]
  texts[i] = current and call('HGET', key('texts', job), recorded[1])
end
return texts
