-- Atomic: the texts that a Parquet part holds leave the server, pointers take their place, the sink's entries are done.
-- ARGV: job id, part, then for each entry of the part's job: entry, request id, cursor, row (-1: not in the part)
-- Returns how many responses point to the part now.
local job, part, moved = ARGV[1], ARGV[2], 0
for i = 3, #ARGV, 4 do
  local entry, request, cursor, row = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  local response = key('response', job) .. request
  if row ~= '-1' and call('HGET', response, 'cursor') == cursor then
    call('HSET', response, 'part', part, 'row', row)
    call('HDEL', key('texts', job), request)
    moved = moved + 1
  end
  call('XACK', key('unsunk'), 'sink', entry)
end
trim_read(key('unsunk'), 'sink')
return moved
