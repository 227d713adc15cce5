import { randomUUID } from 'node:crypto';
import type { Context } from '#server/domain/context.ts';
import { publishRunbookVersion, saveRunbookVersion } from '#server/domain/runbooks/index.ts';
import type { SaveRunbookInput } from '#server/domain/runbooks/input.ts';

/** A plan that greets someone. */
export const greeting = {
  FormatVersion: '2.0.0',
  Body: 'return hello(args.who).stdout',
  Scripts: { hello: { Type: 'Application', Version: '1.0.0', EntryPoint: 'f1', Files: [], Options: {} } },
  Files: { f1: { Name: 'hello.sh', BodyType: 'Text', Body: '#!/bin/sh\necho hello $1\n' } },
};

/** A schema with one plain and one secret parameter. */
export const greetingParameters = {
  type: 'object',
  properties: { who: { type: 'string', minLength: 1 }, token: { type: 'string', writeOnly: true } },
  required: ['who'],
  additionalProperties: false,
};

/** Returns a context whose checks of schemas may take a minute, because a busy machine starts their workers slowly. */
export function patient(ctx: Context): Context {
  const { limits } = ctx.config;
  const settings = { ...limits.settings, checkMs: 60_000 };
  return { ...ctx, config: { ...ctx.config, limits: { ...limits, settings } } };
}

/** Returns a name that no other test uses. */
export const freshName = (): string => `runbook-${randomUUID().slice(0, 8)}`;

/** Saves a version of a runbook, and publishes it unless `draft` is set. Returns its name and version. */
export async function givenRunbook(
  ctx: Context,
  { draft = false, ...given }: Partial<SaveRunbookInput> & { draft?: boolean } = {},
): Promise<{ name: string; version: string }> {
  const { name = freshName(), version = '1.0.0' } = given;
  const contents = { title: 'Greet', plan: greeting, parameters: greetingParameters, ...given, name, version };
  await saveRunbookVersion(patient(ctx), contents);
  if (!draft) await publishRunbookVersion(ctx, { name, version });
  return { name, version };
}
