-- Atomic: bytes are counted for an owner, or would be too many; those that are given back always are.
-- ARGV: owner, bytes (negative: given back), most bytes or 0 for no bound
local owner, bytes, limit = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local kept = tonumber(call('HGET', key('uploaded'), owner) or 0)
if bytes > 0 and limit > 0 and kept + bytes > limit then return 0 end
if kept + bytes <= 0 then
  call('HDEL', key('uploaded'), owner)
else
  call('HSET', key('uploaded'), owner, string.format('%.0f', kept + bytes))
end
return 1
