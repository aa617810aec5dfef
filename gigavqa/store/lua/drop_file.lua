-- Atomic: a file is shown and counted no more. Returns whether there was one.
-- ARGV: file id
local file = ARGV[1]
local known = call('GET', key('file', file))
call('ZREM', key('expiring_files'), file)
if not known then return 0 end
local told = cjson.decode(known)
call('DEL', key('file', file))
call('ZREM', key('files', told.owner), file)
call('ZREM', key('files', '*'), file)
local left = call('HINCRBY', key('uploaded'), told.owner, string.format('%.0f', -told.bytes))
if left <= 0 then call('HDEL', key('uploaded'), told.owner) end
return 1
