import { allowNamespace } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { parse } from '#server/domain/parse.ts';
import { type SetResourcesInput, setResourcesInput } from './input.ts';
import { loadVersion } from './load-version.ts';
import { namespaceOf } from './namespace.ts';
import { putLanguage, readResourceFile, type StoredLanguage } from './put-language.ts';

/**
 * Replaces a language of a version, even after publishing (AZ-L1, AZ-L2). Replacing English checks the other languages
 * again (AZ-L6) and returns their warnings, each with its `lang`. Throws 422 with every fault of the file, 413 above
 * the limits, 404 for an unknown version, 412 if the caller saw another revision of the language.
 */
export async function setResources(ctx: Context, input: SetResourcesInput): Promise<StoredLanguage> {
  const { file, lang: named, revision, ...reference } = parse(setResourcesInput, input);
  allowNamespace(ctx.actor, namespaceOf(reference.handler));
  const { lang, messages } = readResourceFile(ctx, named, file);
  return ctx.db.transaction(async (tx) => {
    const version = await loadVersion(tx, reference, { lock: true });
    return putLanguage(tx, ctx, version, { lang, messages, revision });
  });
}
