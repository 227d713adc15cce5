import { appendFileSync } from 'node:fs';
import pg from 'pg';
import { systemActor } from '#server/domain/actor.ts';
import { type Context, systemOrigin } from '#server/domain/context.ts';
import { randomOf } from '#server/domain/topology-rules/testing/random.ts';
import { loadConfig } from '#server/platform/env.ts';
import { openServices } from '#server/process/services.ts';
import { addMachine, bootstrapModel, mendTopology, removeMachine } from '../index.ts';
import { keptProvider } from './kept-provider.ts';

/** What a process does before it is killed: its only argument, as JSON. */
export interface KilledProcess {
  /** The settings of the process. */
  settings: { DATABASE_URL: string; DATA_DIR: string; ANNEX_SECRET_KEY: string };
  model: string;
  seed: number;
  /** The file in which the provider is kept, and the file of the machines whose creation was answered. */
  provider: string;
  answers: string;
  /** The time of the first action. */
  now: string;
  /** The number of statements and calls of the provider after which the process kills itself. */
  killAt: number;
}

/** Bootstraps the model, and adds and removes machines, until the process is killed. */
async function actUntilKilled({ settings, model, seed, provider: file, answers, now, killAt }: KilledProcess) {
  const point = killAfter(killAt);
  killAtStatements(point);
  const services = await openServices(loadConfig(settings), 'worker');
  const random = randomOf(seed);
  const provider = keptProvider(file, point);
  const added: number[] = [];
  for (let act = 0; ; act += 1) {
    const at = new Date(Date.parse(now) + act * 5_000);
    const ctx: Context = { ...services, actor: systemActor, origin: systemOrigin, now: at, requestId: `act-${act}` };
    const kind = act === 0 ? 1 : random.below(6);
    try {
      if (kind === 0) await mendTopology(ctx, provider);
      else if (kind === 1) await bootstrapModel(ctx, { model, controllers: random.below(2) }, provider);
      else if (kind < 5 || added.length === 0) {
        const { machine } = await addMachine(ctx, { model }, provider);
        appendFileSync(answers, `added ${machine}\n`);
        added.push(machine);
      } else {
        const machine = added.splice(random.below(added.length), 1)[0] ?? 0;
        appendFileSync(answers, `removing ${machine}\n`);
        await removeMachine(ctx, { model, machine });
      }
    } catch {
      // A request may be rejected, for example before the bootstrap.
    }
  }
}

/** Returns a function that kills the process with SIGKILL after this many calls. */
function killAfter(calls: number): () => void {
  let left = calls;
  return () => {
    left -= 1;
    if (left <= 0) process.kill(process.pid, 'SIGKILL');
  };
}

/** Calls `point` after each statement was sent. The server has the statement, and the process gets no response. */
function killAtStatements(point: () => void): void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const sent: unknown = Reflect.apply(query, this, args);
    point();
    return sent;
  } as typeof query;
}

const [, , argument = '{}'] = process.argv;
await actUntilKilled(JSON.parse(argument) as KilledProcess);
