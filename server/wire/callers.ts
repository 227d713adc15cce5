import { hash } from 'node:crypto';
import type { AgentSighting } from '#db/schema/index.ts';
import { noteSighting, withSighting } from '#server/domain/stock-agents/index.ts';
import { soon, type WireCall } from './wire-call.ts';

const forwarderForm = /^[\w-]{8,64}$/;

/** Records which run of the forwarder is calling. Forwarders of earlier releases do not identify their run. */
export function seeForwarder(wire: WireCall): void {
  const mark = wire.call.header('x-guest-forwarder');
  if (mark !== null && forwarderForm.test(mark)) see(wire, 'forwarder', mark);
}

/** Records the agent's transport certificate, which the agent creates whenever it starts. */
export function seeTransport(wire: WireCall, certificate: string): void {
  see(wire, 'transport', hash('sha256', certificate, 'base64url'));
}

/** Records the container id that the agent sends. Records nothing as long as the agent has sent only the current id. */
export function seeContainer(wire: WireCall, sent: string, current: string): void {
  const isUsual = sent === current && !wire.guest.sightings.some(({ kind }) => kind === 'container');
  if (!isUsual && sent.length <= 64) see(wire, 'container', sent);
}

/** Stores a caller if it has changed, without delaying the response. */
function see(wire: WireCall, kind: AgentSighting['kind'], mark: string): void {
  const { guest, ctx } = wire;
  if (guest.isProcessing.sighting || withSighting(guest.sightings, { kind, mark }, ctx.now) === null) return;
  guest.isProcessing.sighting = true;
  const noted = noteSighting(ctx, guest.vmId, { kind, mark })
    .then((sightings) => {
      if (sightings !== null) guest.sightings = sightings;
    })
    .finally(() => {
      guest.isProcessing.sighting = false;
    });
  void soon(wire, 'sighting', noted);
}
