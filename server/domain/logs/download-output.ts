import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type GetOutputInput, getOutputInput } from './input.ts';
import { loadOutput, type Output, outputOf } from './output.ts';
import { bytesOf } from './piece.ts';

/**
 * The whole of an output as the command wrote it, piece by piece, for operators. Where bytes did not arrive a line says
 * so. Throws 404 `output_unknown`.
 */
export async function downloadOutput(
  ctx: Context,
  input: GetOutputInput,
): Promise<{ output: Output; bytes: AsyncIterable<Uint8Array> }> {
  allow(ctx.actor, 'operator');
  const { vmId, outputId } = parse(getOutputInput, input);
  const { row, stretches } = await loadOutput(ctx, vmId, outputId);
  return {
    output: outputOf(row),
    bytes: (async function* () {
      for (const stretch of stretches) {
        if (stretch.kind === 'gap') {
          yield Buffer.from(`\n[${stretch.bytes} bytes of the output did not arrive.]\n`);
          continue;
        }
        for (const { sha256 } of stretch.pieces) yield await bytesOf(ctx.blobs, { sha256, path: null });
      }
    })(),
  };
}
