import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetOutputInput, getOutputInput } from './input.ts';
import { loadOutput, type Output, outputOf } from './output.ts';
import { bytesOf, PieceGone } from './piece.ts';
import { type OutputOfRun, stretchesOfRun } from './read-run-output.ts';
import type { PlacedPiece, Stretch } from './rows.ts';

/**
 * Returns the complete output of a command in chunks, for operators. A line marks missing bytes. Throws 404
 * `output_unknown`.
 */
export async function downloadOutput(
  ctx: Context,
  input: GetOutputInput,
): Promise<{ output: Output; bytes: AsyncIterable<Uint8Array> }> {
  allow(ctx.actor, 'operator');
  const { vmId, outputId } = parse(getOutputInput, input);
  const { row, stretches } = await loadOutput(ctx, vmId, outputId);
  const reload = async () => (await loadOutput(ctx, vmId, outputId)).stretches;
  return { output: outputOf(row), bytes: bytesFrom(ctx, stretches, reload) };
}

/** Returns the complete output of a run of a unit's hook in chunks, as `downloadOutput` does. */
export async function downloadOutputOfRun(ctx: Context, run: OutputOfRun): Promise<AsyncIterable<Uint8Array>> {
  const load = () => stretchesOfRun(ctx, run);
  return bytesFrom(ctx, await load(), load);
}

type Part = PlacedPiece | Extract<Stretch, { kind: 'gap' }>;

const partsOf = (stretch: Stretch): readonly Part[] => (stretch.kind === 'gap' ? [stretch] : stretch.pieces);

/** Yields the output. If pieces are merged during the download, reloads them and continues at the same position. */
async function* bytesFrom(
  ctx: Context,
  first: readonly Stretch[],
  reload: () => Promise<readonly Stretch[]>,
): AsyncGenerator<Uint8Array> {
  let at = 0;
  let stuckAt = -1;
  for (let stretches = first; ; stretches = await reload()) {
    try {
      let until = 0;
      for (const part of stretches.flatMap(partsOf)) {
        const start = until;
        until = 'kind' in part ? start + part.bytes : part.until;
        if (until <= at) continue;
        yield 'kind' in part
          ? Buffer.from(`\n[${until - at} bytes of the output did not arrive.]\n`)
          : (await bytesOf(ctx.blobs, { ...part, path: null })).subarray(at - start);
        at = until;
      }
      return;
    } catch (error) {
      if (!(error instanceof PieceGone) || stuckAt === at) throw error;
      stuckAt = at;
    }
  }
}
