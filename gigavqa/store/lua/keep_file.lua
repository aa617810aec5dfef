-- Atomic: a file is shown to its owner and counted among what is kept for him, once, or it would be too much.
-- ARGV: file id, owner or '', what is known of it as JSON, its bytes, most bytes of the owner's or '', when it expires in
-- seconds or ''
local file, owner, bytes, most, expires = ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local known = call('GET', key('file', file))
if known then
  call('SET', key('file', file), ARGV[3])
  call('HINCRBY', key('uploaded'), owner, string.format('%.0f', bytes - cjson.decode(known).bytes))
  return 1
end
if most and tonumber(call('HGET', key('uploaded'), owner) or 0) + bytes > most then return 0 end
call('SET', key('file', file), ARGV[3])
call('HINCRBY', key('uploaded'), owner, ARGV[4])
call('ZADD', key('files', owner), now(), file)
call('ZADD', key('files', '*'), now(), file)
if expires ~= '' then call('ZADD', key('expiring_files'), expires, file) end
return 1
