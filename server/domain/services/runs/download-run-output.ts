import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { downloadOutputOfRun } from '#server/domain/logs/index.ts';
import { parse } from '#server/domain/parse.ts';
import { findRun } from './find-run.ts';
import { type GetRunInput, getRunInput } from './input.ts';
import type { HookRun } from './shown-run.ts';

/**
 * Returns the whole output of a run in chunks, for operators. Of a running hook, it is the output so far. Throws 404
 * `unit_unknown` | `run_unknown`.
 */
export async function downloadRunOutput(
  ctx: Context,
  input: GetRunInput,
): Promise<{ run: HookRun; bytes: AsyncIterable<Uint8Array> }> {
  allow(ctx.actor, 'operator');
  const { run } = await findRun(ctx, parse(getRunInput, input));
  return { run, bytes: await downloadOutputOfRun(ctx, run) };
}
