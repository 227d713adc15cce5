import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { eq } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { models, vmRoles } from '#db/schema/index.ts';
import { randomOf } from '#server/domain/topology-rules/testing/random.ts';
import { runsLong } from '#server/testing/runs-long.ts';
import { createModel } from './index.ts';
import { faultsOf, settle } from './testing/faults.ts';
import { readProvider } from './testing/kept-provider.ts';
import type { KilledProcess } from './testing/killed-process.ts';
import { lab, newStage } from './testing/stage.ts';

const program = path.join(import.meta.dirname, 'testing/killed-process.ts');
const preload = path.resolve(import.meta.dirname, '../../platform/quick-imports.ts');
/** Number of processes that are killed in each history. */
const kills = Number(process.env.ANNEX_TOPOLOGY_KILLS ?? 2);

/** Runs a process until it is killed. */
async function kill(what: KilledProcess): Promise<void> {
  const child = spawn(process.execPath, ['--import', preload, program, JSON.stringify(what)], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
}

/** Kills processes that work on one model, one after the other. Returns what does not belong together afterwards. */
async function faultsAfterKills(seed: number): Promise<{ faults: string[]; machines: number }> {
  const stage = await newStage();
  const { ctx } = stage;
  const folder = mkdtempSync(path.join(tmpdir(), 'annex-kills-'));
  const settings = {
    ...{ DATABASE_URL: ctx.db.$client.options.connectionString ?? '', DATA_DIR: folder },
    ANNEX_SECRET_KEY: randomBytes(32).toString('base64'),
  };
  const model = 'killed';
  const random = randomOf(seed);
  const [provider, answers] = [path.join(folder, 'provider.json'), path.join(folder, 'answers.txt')];
  await createModel(ctx, { ...lab, name: model, availabilitySetsEnabled: false });
  for (let count = 0; count < kills; count += 1) {
    const now = stage.after(count * 200).now.toISOString();
    const killAt = 20 + random.below(250);
    await kill({ settings, model, seed: seed * 100 + count, provider, answers, now, killAt });
  }
  const kept = readProvider(provider);
  const open = await settle(stage, kept, kills * 200 + 1_000);
  const machines = await ctx.db
    .select({ machine: vmRoles.machine })
    .from(vmRoles)
    .innerJoin(models, eq(models.id, vmRoles.modelId))
    .where(eq(models.name, model));
  const lost = answered(answers).filter((machine) => !machines.some((one) => one.machine === machine));
  return {
    faults: [
      ...(open === 0 ? [] : [`${open} are open`]),
      ...lost.map((machine) => `machine ${machine} was lost`),
      ...(await faultsOf(ctx, model, kept)),
    ],
    machines: machines.length,
  };
}

test('JU-25 after processes were killed at any statement and any call of the provider, nothing is left without its counterpart', async () => {
  const found = await Promise.all((runsLong ? [1, 2] : [1]).map(faultsAfterKills));
  expect(found.flatMap(({ faults }) => faults)).toEqual([]);
  expect(found.reduce((sum, { machines }) => sum + machines, 0)).toBeGreaterThan(0);
}, 120_000);

/** Returns the machines whose creation was answered with success, and whose removal was not requested. */
function answered(file: string): number[] {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  const removed = new Set(lines.flatMap((line) => line.match(/^removing (\d+)$/)?.[1] ?? []));
  return lines
    .flatMap((line) => line.match(/^added (\d+)$/)?.[1] ?? [])
    .filter((one) => !removed.has(one))
    .map(Number);
}
