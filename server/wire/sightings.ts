import type { StockGoalState } from '#server/domain/stock-agents/index.ts';
import { silenceSeconds } from '#server/domain/verdicts/index.ts';
import type { WireCall } from './wire-call.ts';

/**
 * Milliseconds since the last status after which a poll is recorded. A recent status already shows that the agent is
 * alive.
 */
const quietMs = 75_000;
/** Seconds within which an idle agent calls again: its minute and some tolerance. */
const idleSeconds = 90;
/** Seconds for enabling a handler again, in addition to its longest command. */
const enabling = 300;
/** Maximum seconds of silence while the agent waits for dependencies. */
const longestSilence = 5_400;

/** Records a sighting, unless there is a recent one. */
export function noteIdle({ call, guest }: WireCall): void {
  const at = call.door.clock();
  if (at.getTime() - guest.notedAt < quietMs) return;
  promise({ call, guest }, idleSeconds);
}

/** Records that the agent is about to run commands, and will be silent until they finish. */
export function noteBusy(wire: WireCall, { extensions }: StockGoalState): void {
  wire.guest.isBusy = true;
  promise(wire, Math.min(longestSilence, silenceSeconds + enabling * extensions.length));
}

/** Records that the agent called, so no command is running: from now on it calls every few seconds. */
export function noteDone(wire: WireCall): void {
  if (!wire.guest.isBusy) return;
  wire.guest.isBusy = false;
  promise(wire, idleSeconds);
}

function promise({ call, guest }: Pick<WireCall, 'call' | 'guest'>, seconds: number): void {
  const at = call.door.clock();
  guest.notedAt = at.getTime();
  const nextExpectedAt = new Date(at.getTime() + seconds * 1_000);
  // The newest announced call applies, even if an earlier one was later.
  call.door.presence.saw({ vmId: guest.vmId, at, nextExpectedAt, counter: null, hungUp: true });
}
