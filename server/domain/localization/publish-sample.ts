import { z } from 'zod';
import { sampleLanguages, samplePackage, sampleResource, sampleSchema } from '#samples/build.ts';
import { allow } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { DomainError } from '#server/domain/error.ts';
import { receiveUpload } from '#server/domain/packages/index.ts';
import { createPublisher } from '#server/domain/publishers/index.ts';
import { KeyedLock } from '#server/platform/keyed-lock.ts';
import { slot } from '#server/platform/process-memory.ts';
import { registerVersion } from './register-version.ts';

const publisher = { namespace: 'Annex.Samples', displayName: 'Annex samples' };
/** The sample runs on every Linux machine and needs no network and no settings. */
const sample = { from: 'Acme.Lab.Probe', handler: 'Annex.Samples.Probe', version: '1.1.0.0' };

/** Runs calls one after the other. Otherwise, a second call would change the version while the first publishes it. */
const sampleLock = slot(() => new KeyedLock());

export const publishedSample = z.object({ handler: z.string(), version: z.string() });
export type PublishedSample = z.infer<typeof publishedSample>;

/**
 * Publishes a sample handler, so that an empty portal has something to run. Creates its publisher if it is missing. A
 * second call changes nothing.
 */
export async function publishSample(ctx: Context): Promise<PublishedSample> {
  allow(ctx.actor, 'admin');
  return ctx.memory.of(sampleLock).run('sample', () => publish(ctx));
}

async function publish(ctx: Context): Promise<PublishedSample> {
  await createPublisher(ctx, publisher).catch((error: unknown) => {
    if (!(error instanceof DomainError && error.code === 'publisher_taken')) throw error;
  });
  const { handler, version } = sample;
  const zip = await samplePackage(sample.from, version);
  const file = await receiveUpload(ctx, chunksOf(zip), zip.length);
  const resources = sampleLanguages.map((lang) => sampleResource(sample.from, lang));
  await registerVersion(ctx, { handler, version, file, schema: sampleSchema(sample.from), resources, publish: true });
  return { handler, version };
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
