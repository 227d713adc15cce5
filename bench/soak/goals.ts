import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pino } from 'pino';
import { loggingHandler } from '#agent/testing/misbehaving.ts';
import type { Context, Services } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { removeExtension, setExtension } from '#server/domain/goal-states/index.ts';
import { publishVersion } from '#server/domain/localization/index.ts';
import { receiveUpload, registerPackage } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';

const handlers = { alpha: 'Acme.Soak.Alpha', beta: 'Acme.Soak.Beta', gamma: 'Acme.Soak.Gamma' } as const;
const names = ['alpha', 'beta', 'gamma'] as const;
const versions = ['1.0.0.0', '1.1.0.0', '1.2.0.0'] as const;

export function contextOf(services: Services): Context {
  return {
    ...services,
    log: pino({ level: 'silent' }),
    now: new Date(),
    requestId: randomUUID(),
    origin: { door: 'cli', address: null, client: null },
    actor: { kind: 'system', id: 'soak', name: 'Soak', role: 'admin', namespaces: [] },
  };
}

/** Publishes three slow handlers in three versions each. */
export async function publishHandlers(services: Services): Promise<void> {
  await createPublisher(contextOf(services), { namespace: 'Acme.Soak', displayName: 'Soak' });
  for (const handler of Object.values(handlers)) {
    for (const version of versions) {
      const { zip } = await loggingHandler({ handler, version, script: 'sleep 0.2; echo "$1 of $n is done"' });
      const file = await receiveUpload(contextOf(services), Readable.from([zip]));
      await registerPackage(contextOf(services), { handler, version, file });
      await publishVersion(contextOf(services), { handler, version });
    }
  }
}

/** The last goal of one VM, by extension. Extensions that are absent should be uninstalled. */
export type Wanted = Map<string, { version: string; state: 'enabled' | 'disabled'; dependsOn: string[] }>;

/**
 * Changes a VM's goal at random: adds or removes an extension, or changes its version, state, settings or dependency.
 * Returns false if the change was rejected, or if its outcome is unknown.
 */
export async function changeGoal(
  services: Services,
  vmId: string,
  wanted: Wanted,
  random: () => number,
): Promise<boolean> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const name = pick(names);
  const isNeeded = [...wanted.values()].some(({ dependsOn }) => dependsOn.includes(name));
  try {
    if (wanted.has(name) && !isNeeded && random() < 0.25) {
      await removeExtension(contextOf(services), { vmId, name });
      wanted.delete(name);
      return true;
    }
    const dependsOnAlpha = name === 'beta' && wanted.get('alpha')?.state === 'enabled' && random() < 0.5;
    const goal = {
      version: pick(versions),
      // The extension stays enabled while other extensions depend on it. Otherwise, these extensions would wait
      // forever.
      state: random() < 0.8 || isNeeded ? ('enabled' as const) : ('disabled' as const),
      dependsOn: dependsOnAlpha ? ['alpha'] : [],
    };
    const settings = { publicSettings: { revision: Math.floor(random() * 1_000_000) } };
    await setExtension(contextOf(services), { vmId, name, goal: { handler: handlers[name], settings, ...goal } });
    wanted.set(name, goal);
    return true;
  } catch (error) {
    // A DomainError means that nothing changed. After any other error, the change may still have been committed.
    if (error instanceof DomainError) return false;
    await learn(services, vmId, wanted);
    return false;
  }
}

/** Reads the VM's goal from the database into `wanted`, for example after the response to a change is lost. */
export async function learn(services: Services, vmId: string, wanted: Wanted): Promise<void> {
  try {
    const { rows } = await services.db.$client.query<{
      name: string;
      version: string;
      state: 'enabled' | 'disabled' | 'uninstall';
      dependsOn: string[];
    }>(`select name, version, state, depends_on as "dependsOn" from extensions where vm_id = $1`, [vmId]);
    wanted.clear();
    for (const { name, version, state, dependsOn } of rows) {
      if (state !== 'uninstall') wanted.set(name, { version, state, dependsOn });
    }
  } catch {
    // The database is still down. The goal is read again before the final check.
  }
}

/** Returns the handler of an extension. */
export function handlerOf(name: string): string {
  return handlers[name as keyof typeof handlers];
}
