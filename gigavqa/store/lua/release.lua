-- Atomic: the worker owns no images of the model any more, and what is parked for it is claimable at once.
-- ARGV: worker, lane that is parked on, its model
local worker, stream, model = ARGV[1], ARGV[2], ARGV[3]
call('UNLINK', key('room', model .. ':' .. worker))
call('ZREM', key('parked', model), worker)
local after = '-'
repeat
  local parked = call('XPENDING', stream, GROUP, after, '+', 1000, parking(worker))
  for _, p in ipairs(parked) do
    call('XCLAIM', stream, GROUP, parking(worker), 0, p[1], 'IDLE', 1000000000, 'JUSTID')
    after = '(' .. p[1]
  end
until #parked < 1000
