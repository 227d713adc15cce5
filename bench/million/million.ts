import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { defaultLimits } from '#server/platform/limits.ts';
import { startDeployment } from '../deployment/deployment.ts';
import { seedFleet } from '../fleet/seed-fleet.ts';
import { latencyPicture } from '../print/latency-picture.ts';
import { writeResults } from '../print/results.ts';
import { type LoadSample, type MillionResult, runMillion } from './run-million.ts';

export interface MillionCommand {
  vms: number;
  minutes: number;
  connections: number;
  seed: string;
  json?: string;
  say(line: string): void;
}

const limitMs = 50;
/** Memory use counts as flat if the value at the end is at most this many times the value halfway through. */
const flat = 1.1;

/** The main run: seeds the fleet, applies the load, and prints the result. Returns false if a target is missed. */
export async function million({ vms, minutes, connections, seed, json, say }: MillionCommand): Promise<boolean> {
  // The gateway remembers every agent, as operations.md recommends for a fleet of this size.
  const limits = { rememberedAgents: Math.max(vms, defaultLimits.rememberedAgents) };
  const deployment = await startDeployment({ environment: { ANNEX_LIMITS: JSON.stringify(limits) }, say });
  const fleet = await seedFleet(deployment.services, { vms, seed, say });
  await deployment.services.db.$client.query('checkpoint');
  await deployment.startWorker();
  say(
    `${vms} VMs report their heartbeat every 2 minutes, 1 % of them a status every 5, for ${minutes} minutes; ` +
      `${connections} keep-alive connections are shared by all; latencies count from the instant a report is due.`,
  );
  const result = await runMillion({ deployment, fleet, minutes, connections, say });
  const verdicts = judge(result);
  const file = await writeResults(
    deployment.services.db.$client,
    'million',
    { options: { vms, minutes, connections, seed, limits }, verdicts, ...result },
    json,
  );
  const picture = file.replace(/(\.json)?$/, '.svg');
  mkdirSync(dirname(picture), { recursive: true });
  writeFileSync(
    picture,
    latencyPicture(`${vms.toLocaleString('en-US')} VMs: reports, latency`, result.samples, limitMs),
  );
  console.log(`\n${summary(result, verdicts)}\n\nin full: ${file}\npicture: ${picture}`);
  return verdicts.every(({ holds }) => holds);
}

const listOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, count]) => `${count} × ${what}`)
    .join(', ') || 'none';

interface Verdict {
  what: string;
  holds: boolean;
}

function judge({ samples, all, failures, unanswered }: MillionResult): Verdict[] {
  const failed = Object.keys(failures).length > 0 ? [listOf(failures)] : [];
  return [
    { what: `p99 ${all.latencies.p99.toFixed(1)} ms < ${limitMs} ms`, holds: all.latencies.p99 < limitMs },
    {
      what: failed.length + unanswered === 0 ? 'no error' : [...failed, `${unanswered} unanswered`].join(', '),
      holds: failed.length + unanswered === 0,
    },
    ...(['gateway', 'worker', 'postgres'] as const).map((name) => {
      const [half, end] = [memoryAt(samples, 0.5, name), memoryAt(samples, 1, name)];
      return { what: `memory of ${name} flat (halfway ${half} MB, end ${end} MB)`, holds: end <= half * flat };
    }),
  ];
}

function memoryAt(samples: readonly LoadSample[], share: number, name: keyof LoadSample['memoryBytes']): number {
  const sample = samples[Math.max(0, Math.ceil(samples.length * share) - 1)];
  return Math.round((sample?.memoryBytes[name] ?? 0) / 1_048_576);
}

function summary(result: MillionResult, verdicts: readonly Verdict[]): string {
  const { samples, all, heartbeats, statuses, healthChanges } = result;
  const percentiles = (name: string, { count, latencies: l }: MillionResult['heartbeats']): string =>
    `${name.padEnd(12)}${String(count).padStart(9)}  p50 ${l.p50.toFixed(1)}  p90 ${l.p90.toFixed(1)}  ` +
    `p99 ${l.p99.toFixed(1)}  p99.9 ${l.p999.toFixed(1)}  max ${l.max.toFixed(1)} ms`;
  const cores = (name: keyof LoadSample['cores']): string => {
    const mean = samples.reduce((sum, sample) => sum + sample.cores[name], 0) / Math.max(1, samples.length);
    return `${name.padEnd(12)}${(mean * 100).toFixed(0).padStart(4)} % of a core, memory ${memoryAt(samples, 0, name)} MB at the start, ${memoryAt(samples, 1, name)} MB at the end`;
  };
  return [
    `${Math.round(all.perSecond)} reports a second acknowledged`,
    percentiles('all', all),
    percentiles('heartbeats', heartbeats),
    percentiles('statuses', statuses),
    ...(['gateway', 'worker', 'postgres', 'bench'] as const).map(cores),
    `VMs whose health changed: ${listOf(healthChanges)}`,
    ...verdicts.map(({ what, holds }) => `${holds ? 'met   ' : 'MISSED'}  ${what}`),
  ].join('\n');
}
