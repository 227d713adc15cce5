import { negotiate } from '#protocol/index.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type PreviewMessageInput, previewMessageInput } from './input.ts';
import { loadResources, loadVersion, resourcesOf } from './load-version.ts';
import { type LocalizedMessage, localizeMessage } from './message.ts';

/** Returns a message as each reader sees it. `message` is null if the input has neither an id nor a formatted text. */
export async function previewMessage(
  ctx: Context,
  input: PreviewMessageInput,
): Promise<{ reader: string; message: LocalizedMessage | null }[]> {
  allow(ctx.actor, 'viewer');
  const { readers, message, formattedMessage, ...reference } = parse(previewMessageInput, input);
  const resources = resourcesOf(await loadResources(ctx.db, await loadVersion(ctx.db, reference)));
  return readers.map((reader) => ({
    reader,
    message: localizeMessage({ message, formattedMessage, resources, wanted: negotiate({ acceptLanguage: reader }) }),
  }));
}
