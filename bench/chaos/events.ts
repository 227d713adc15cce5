import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { processesIn, signal } from '#server/platform/processes.ts';
import type { Deployment } from '../deployment/deployment.ts';
import type { SmallDisk } from './small-disk.ts';

/** A fault to inject. */
export interface InjectedFault {
  name: string;
  /** Whether the fault is a `kill -9`. */
  kill: boolean;
  /** Injects the fault and resolves when it is over. Returns false if the fault had no target. */
  inject(): Promise<boolean>;
}

export interface FaultOptions {
  deployment: Deployment;
  disk: SmallDisk;
  random(): number;
  /** Functions that clean up if the run is interrupted during a fault. */
  undo: Set<() => void>;
}

/** Returns the faults that can be injected on this machine. They affect only processes that this run started. */
export function faultsFor({ deployment, disk, random, undo }: FaultOptions): InjectedFault[] {
  const cluster = join(deployment.folder, 'postgres', 'data');
  const killing = (name: string, pid: () => number | undefined): InjectedFault => ({
    name: `kill -9 of the ${name}`,
    kill: true,
    inject: async () => {
      const found = pid();
      if (found !== undefined) signal(found, 'SIGKILL');
      return found !== undefined;
    },
  });
  /** Calls `end` after this time. If the run is interrupted earlier, the cleanup calls `end`. */
  const passing = async (end: () => void, ms: number): Promise<void> => {
    undo.add(end);
    await delay(ms);
    undo.delete(end);
    end();
  };
  const stall = async (): Promise<boolean> => {
    const pids = await processesIn(cluster);
    for (const pid of pids) signal(pid, 'SIGSTOP');
    await passing(() => pids.forEach((pid) => void signal(pid, 'SIGCONT')), 500 + random() * 4_500);
    return pids.length > 0;
  };
  const fill = disk.fill;
  return [
    ...deployment.gateways.map(({ child }, index) => killing(`gateway ${index + 1}`, child.pid)),
    killing('worker', () => deployment.worker()?.pid()),
    killing('database', () => deployment.database.pid()),
    { name: 'the database stalls', kill: false, inject: stall },
    { name: 'the LISTEN connections are lost', kill: false, inject: () => loseListeners(deployment.databaseUrl) },
    ...(fill === null
      ? []
      : [
          {
            name: 'the disk is full',
            kill: false,
            inject: async () => {
              fill();
              await passing(disk.free, 1_000 + random() * 3_000);
              return true;
            },
          },
        ]),
  ];
}

async function loseListeners(databaseUrl: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rowCount } = await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and state = 'idle' and query ilike 'listen%'`,
    );
    return (rowCount ?? 0) > 0;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
