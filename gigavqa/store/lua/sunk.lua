-- Atomic: the texts that a Parquet part holds leave the server, pointers take their place, the part's seal is kept, the
-- sink's entries go. Nothing of a deleted job moves, nor what another sink put elsewhere meanwhile. Memory is
-- freed first: a server whose memory is full refuses a script only up to its first write.
-- ARGV: job id, part, seal, a JSON list with for each entry of the part's job: entry, request id, cursor, row (-1: not
-- in the part)
-- Returns how many responses point to the part now.
local job, part, moved = ARGV[1], ARGV[2], 0
local exists = call('EXISTS', key('job', job)) == 1
local done = {}
for i, told in ipairs(cjson.decode(ARGV[4])) do
  local entry, request, cursor, row = unpack(told)
  local response = key('response', job) .. request
  local known = call('HMGET', response, 'cursor', 'part')
  if exists and row ~= -1 and known[1] == cursor and (not known[2] or known[2] == part) then
    call('HDEL', key('texts', job), request)
    call('HSET', response, 'part', part, 'row', row)
    moved = moved + 1
  end
  done[i] = entry
end
for first = 1, #done, 1000 do
  call('XDEL', key('unsunk'), unpack(done, first, math.min(first + 999, #done)))
end
if moved > 0 then call('HSET', key('parts', job), part, ARGV[3]) end
return moved
