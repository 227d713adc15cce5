import { z } from 'zod';
import { lastLanguage } from '#protocol/index.ts';
import { allowNamespace } from '#server/domain/actor.ts';
import { time } from '#server/domain/answers.ts';
import { recordAudit } from '#server/domain/audit/index.ts';
import { recordChange } from '#server/domain/changes/index.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { markPublished, registeredPackage } from '#server/domain/packages/index.ts';
import { parse } from '#server/domain/parse.ts';
import { type PublishVersionInput, publishVersionInput } from './input.ts';
import { loadResources, loadVersion } from './load-version.ts';
import { namespaceOf } from './namespace.ts';
import { withoutEnglish } from './put-language.ts';

export const publishedVersion = registeredPackage
  .omit({ created: true })
  .extend({ languages: z.array(z.string()), publishedAt: time.nullable() });
export type PublishedVersion = z.infer<typeof publishedVersion>;

/**
 * Publishes a draft; a second call changes nothing. The function is in this module because it checks the resources: a
 * version with resources but without `en` is rejected with 422 (AZ-L1). Throws 404 `version_unknown`, and 409 for a
 * withdrawn version.
 */
export async function publishVersion(ctx: Context, input: PublishVersionInput): Promise<PublishedVersion> {
  const reference = parse(publishVersionInput, input);
  allowNamespace(ctx.actor, namespaceOf(reference.handler));
  return ctx.db.transaction(async (tx) => {
    const row = await loadVersion(tx, reference, { lock: true });
    const { handler, version } = row;
    if (row.state === 'withdrawn') {
      throw new DomainError('conflict', 'version_withdrawn', { params: { handler, version } });
    }
    const files = await loadResources(tx, row);
    const languages = files.map(({ lang }) => lang);
    const { sha256, size, manifest } = row;
    const warnings = [
      ...row.warnings,
      ...files.flatMap((file) =>
        file.warnings.map((warning) => ({ ...warning, path: `resources/${file.lang}#${warning.path}` })),
      ),
    ];
    const published = { handler, version, state: 'published' as const, sha256, size, manifest, warnings, languages };
    if (row.state === 'published') return { ...published, publishedAt: row.publishedAt?.toISOString() ?? null };
    if (languages.length > 0 && !languages.includes(lastLanguage)) throw withoutEnglish(languages);

    await markPublished(tx, row, ctx.now);
    await recordAudit(tx, ctx, {
      action: 'version.publish',
      target: { kind: 'version', id: `${handler}-${version}` },
      before: { state: row.state },
      after: { state: 'published', sha256, languages },
      details: { handler, version },
    });
    await recordChange(tx, 'handler', handler);
    return { ...published, publishedAt: ctx.now.toISOString() };
  });
}
