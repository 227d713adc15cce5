import { AsyncLocalStorage } from 'node:async_hooks';
import { visitCrashPoints } from '../folder/crash-point.ts';
import { layoutOf } from '../folder/layout.ts';
import { writeAtomically, writeJson } from '../folder/write-file.ts';
import { Agent, type AgentOptions } from '../work/agent.ts';

/**
 * What each run of an agent does at a crash point. Pending work keeps the function of the run that started it, so an
 * agent that was stopped at a point stays stopped while the next agent runs.
 */
const visits = new AsyncLocalStorage<(point: string) => void>();

/** Whether tests stop the agent at every crash point, as in `npm run test:crashes`, and not only at some of them. */
export const isWhole = process.env.ANNEX_CRASH_POINTS === 'all';

/** The error with which an agent stops at a crash point. */
class Killed extends Error {}

/**
 * Runs an agent, and stops it at crash point number `killAt`: from then on, nothing that the agent does reaches the
 * disk, the machine or the portal, as after kill -9. `onKill` is called at that point. Returns the points that the
 * agent reached.
 */
export async function liveUntilKilled(
  agent: () => Agent,
  work: (agent: Agent) => Promise<unknown>,
  { killAt, onKill = () => {} }: { killAt: number; onKill?: () => void },
): Promise<string[]> {
  const points: string[] = [];
  const death = Promise.withResolvers<void>();
  const visit = (point: string) => {
    if (points.length < killAt) points.push(point);
    if (points.length < killAt) return;
    onKill();
    death.resolve();
    throw new Killed(point);
  };
  visitCrashPoints((point) => visits.getStore()?.(point));
  await visits.run(visit, async () => {
    const living = agent();
    await Promise.race([death.promise, work(living)]);
    await living.stop(0);
  });
  return points;
}

/** Returns an agent whose portal is in this process. `warnings` gets the agent's warnings. */
export function memoryAgent(folder: string, warnings: string[], options: Partial<AgentOptions>): Agent {
  return new Agent({
    layout: layoutOf(folder),
    journal: { info() {}, warn: (line) => warnings.push(line), note() {} },
    heartbeatSeconds: 600,
    statusSeconds: 600,
    statusAfterConclusion: 'follow',
    environment: {},
    call: () => Promise.reject(new Error('the portal is in this process')),
    ...options,
  });
}

/** Writes the identity of an enrolled machine into an agent's folder. */
export function writeIdentity(folder: string): void {
  const layout = layoutOf(folder);
  writeAtomically(layout.credential, 'credential\n');
  const about = { portal: 'http://portal.test', name: 'vm', thumbprint: 'A'.repeat(40), vmId: 'vm' };
  writeJson(layout.identity, { ...about, enrolledAt: null, pollSeconds: 1 });
}
