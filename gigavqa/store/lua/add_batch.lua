-- Atomic: a batch is there to be worked on, or too many are: of all, or of the owner's.
-- ARGV: batch id, owner or '', what is told of it as JSON, most of all, most of the owner's or ''
local batch, owner, most, most_owned = ARGV[1], ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
if call('SCARD', key('open_batches', '*')) >= most then return 'full' end
if most_owned and call('SCARD', key('open_batches', owner)) >= most_owned then return 'quota' end
call('HSET', key('batch', batch), 'batch', ARGV[3])
call('ZADD', key('batches', owner), now(), batch)
call('ZADD', key('batches', '*'), now(), batch)
call('SADD', key('open_batches', owner), batch)
call('SADD', key('open_batches', '*'), batch)
return 'added'
