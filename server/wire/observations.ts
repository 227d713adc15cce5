import { SaxesParser } from 'saxes';
import { z } from 'zod';
import { noteObservations, type ReportedObservation } from '#server/domain/stock-agents/index.ts';
import { parseJson } from '#server/platform/json.ts';
import { cutTo } from './status/cut.ts';
import { soon, type WireCall } from './wire-call.ts';

/**
 * Maximum bytes of a request. The agent sends at most ten observations of half a kilobyte each, or a description of
 * four kilobytes.
 */
const maxBytes = 16 * 1_024;
const maxObservations = 10;
const nameBytes = 64;
const textBytes = 1_024;

/** Name of the observation that reports how the machine was provisioned. */
const provisioning = 'Provisioning';

/** Stores the agent's unhealthy observations and their recovery. Processes one request per VM at a time. */
export async function takeObservations(
  { guest, ...wire }: WireCall,
  observed: readonly ReportedObservation[],
): Promise<void> {
  const { ctx } = wire;
  const due = guest.observed.hear(observed, ctx.now);
  if (due === null || guest.isProcessing.health) return;
  guest.isProcessing.health = true;
  const noted = noteObservations(ctx, guest.vmId, due)
    .then((kept) => guest.observed.keep(kept, due, ctx.now))
    .finally(() => {
      guest.isProcessing.health = false;
    });
  await soon({ guest, ...wire }, 'health', noted);
}

const text = z.string().nullish().catch(null);
const observation = z.looseObject({
  ObservationName: z.string().min(1),
  IsHealthy: z.boolean(),
  Description: text,
  Value: text,
});
const post = z.looseObject({ Observations: z.array(z.unknown()) });

/** Returns the readable observations in a request to the health service. */
export function observationsOf(body: Buffer): ReportedObservation[] {
  if (body.length > maxBytes) return [];
  const read = post.safeParse(parseJson(body, { maxDepth: 8, oddities: 'repair' }).value);
  return (read.data?.Observations ?? []).slice(0, maxObservations).flatMap((each) => {
    const { data } = observation.safeParse(each);
    if (data === undefined) return [];
    return [observationFrom(data.ObservationName, data.IsHealthy, [data.Description, data.Value])];
  });
}

/** Returns the result of provisioning, which the agent reports when it starts; an empty list if it cannot be read. */
export function provisioningOf(body: Buffer): ReportedObservation[] {
  if (body.length > maxBytes) return [];
  const found = new Map<string, string>();
  let inside = '';
  const parser = new SaxesParser({ xmlns: false });
  parser.on('opentag', ({ name }) => {
    inside = name;
  });
  parser.on('closetag', () => {
    inside = '';
  });
  parser.on('text', (part) => found.set(inside, `${found.get(inside) ?? ''}${part}`));
  // Ignores syntax errors, because everything before an error is still used.
  parser.on('error', () => {});
  parser.write(body.toString()).close();
  const state = found.get('State')?.toLowerCase();
  if (state !== 'ready' && state !== 'notready') return [];
  return [observationFrom(provisioning, state === 'ready', [found.get('SubStatus'), found.get('Description')])];
}

function observationFrom(name: string, isHealthy: boolean, texts: (string | null | undefined)[]): ReportedObservation {
  const observed = texts.filter((each) => each).join(': ');
  return { name: storable(nameBytes, name), isHealthy, text: storable(textBytes, observed) || null };
}

/**
 * Truncates a text and replaces NUL characters and lone surrogates, which PostgreSQL rejects and XML references can
 * produce.
 */
const storable = (bytes: number, observed: string): string =>
  cutTo(bytes, observed.toWellFormed().replaceAll('\u0000', '\ufffd').trim());
