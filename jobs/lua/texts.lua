-- Reads only: the texts of responses as they were recorded, false for those that a retry or a deletion took back since.
-- A script, because a server whose memory is full may refuse transactions, even those that only read.
-- ARGV: job id, then pairs of request id, cursor
local job, texts = ARGV[1], {}
for i = 2, #ARGV, 2 do
  local current = call('HGET', key('response', job) .. ARGV[i], 'cursor') == ARGV[i + 1]
  texts[#texts + 1] = current and call('HGET', key('texts', job), ARGV[i])
end
return texts
