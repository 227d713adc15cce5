import { z } from 'zod';
import type { PackageKind } from '#protocol/formula-words.ts';
import { carryOver, publishVersion, registerVersion } from '#server/domain/localization/index.ts';
import {
  admitPackage,
  deleteDraft,
  describeVersion,
  receiveUpload,
  registerPackage,
  setPlatforms,
  setSettingsSchema,
  settingsSchema,
  supportedPlatforms,
  versionSchema,
  withdrawnVersion,
  withdrawVersion,
} from '#server/domain/packages/index.ts';
import { platformsInput, withdrawVersionInput } from '#server/domain/packages/input.ts';
import { listLosses, versionLosses } from '#server/domain/views/list-losses.ts';
import { shownWarnings } from '#server/i18n/index.ts';
import { shownPackage, shownPublishedVersion, shownVersion } from '../answers.ts';
import { receiveVersion } from '../receive-version.ts';
import { flag, type RestRoute, route } from '../route.ts';
import { inVersion } from '../shapes.ts';

const registerPackageRouteOf = (kind?: PackageKind): RestRoute =>
  route({
    method: 'PUT',
    path: '/handlers/{handler}/versions/{version}/package',
    operationId: 'registerPackage',
    summary:
      'Uploads the package of a version as a draft. With `carry`, the draft gets the languages and the settings schema of the highest published version below it.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    query: z.object({ carry: flag }),
    takesZip: true,
    answers: {
      200: { meaning: 'The same package had already been uploaded.', schema: shownPackage },
      201: { meaning: 'The package was stored as a draft.', schema: shownPackage },
    },
    refusals: [404, 409],
    run: async (ctx, { params, query, upload, language }) => {
      if (upload === null) throw new Error('a package without its upload');
      await admitPackage(ctx, params);
      const file = await receiveUpload(ctx, upload.bytes, upload.declared);
      const { created, warnings, ...version } = await registerPackage(ctx, { ...params, kind, file });
      if (query.carry) await carryOver(ctx, params);
      return { status: created ? 201 : 200, body: { ...version, warnings: shownWarnings(warnings, language) } };
    },
  });

const registerVersionRouteOf = (kind?: PackageKind): RestRoute =>
  route({
    method: 'POST',
    path: '/handlers/{handler}/versions/{version}',
    operationId: 'registerVersion',
    summary:
      'Uploads a version with its settings schema, platforms and languages in one call. With `carry`, any language or settings schema that you do not send is copied from the highest published version below it. With `publish`, the version is also published.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    query: z.object({ carry: flag, publish: flag }),
    takesForm: {
      package: { type: 'application/zip', meaning: 'The package.', required: true },
      'settings-schema': { type: 'application/json', meaning: 'The settings schema, as in `setSettingsSchema`.' },
      platforms: { type: 'application/json', meaning: 'The supported platforms, as in `setPlatforms`.' },
      resources: { type: 'application/json', meaning: 'The resource file of one language.', repeated: true },
    },
    answers: {
      200: { meaning: 'The same contents had already been uploaded.', schema: shownPublishedVersion },
      201: { meaning: 'The version was stored.', schema: shownPublishedVersion },
    },
    refusals: [404, 409],
    run: async (ctx, { params, query, form, language }) => {
      await admitPackage(ctx, params);
      const parts = await receiveVersion(ctx, form);
      const { created, warnings, ...version } = await registerVersion(ctx, { ...params, kind, ...parts, ...query });
      return { status: created ? 201 : 200, body: { ...version, warnings: shownWarnings(warnings, language) } };
    },
  });

/** Pages use this route for uploads of both kinds of packages. */
export const registerPackageRoute = registerPackageRouteOf();

/** Returns the routes of versions of one kind. */
export const versionRoutesOf = (kind: PackageKind): readonly RestRoute[] => [
  registerPackageRouteOf(kind),
  registerVersionRouteOf(kind),
  ...commonRoutes,
];

const commonRoutes: readonly RestRoute[] = [
  route({
    method: 'GET',
    path: '/handlers/{handler}/versions/{version}',
    operationId: 'getVersion',
    summary: 'Returns a version with its manifest, files, languages and settings schema.',
    role: 'viewer',
    params: inVersion,
    answers: { 200: { meaning: 'The version.', schema: shownVersion } },
    refusals: [404],
    run: async (ctx, { params, language }) => {
      const { warnings, ...version } = await describeVersion(ctx, params);
      return { status: 200, body: { ...version, warnings: shownWarnings(warnings, language) } };
    },
  }),
  route({
    method: 'GET',
    path: '/handlers/{handler}/versions/{version}/losses',
    operationId: 'listLosses',
    summary:
      'Compares a version with the highest published version below it: languages, messages, placeholders, settings, platforms and commands that are missing or differ.',
    role: 'viewer',
    params: inVersion,
    answers: { 200: { meaning: 'What the version lacks or newly requires.', schema: versionLosses } },
    refusals: [404],
    run: async (ctx, { params }) => ({ status: 200, body: await listLosses(ctx, params) }),
  }),
  route({
    method: 'DELETE',
    path: '/handlers/{handler}/versions/{version}',
    operationId: 'deleteDraft',
    summary: 'Deletes a draft.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    answers: { 204: { meaning: 'The draft was deleted.' } },
    refusals: [404, 409],
    run: async (ctx, { params }) => {
      await deleteDraft(ctx, params);
      return { status: 204 };
    },
  }),
  route({
    method: 'PUT',
    path: '/handlers/{handler}/versions/{version}/settings-schema',
    operationId: 'setSettingsSchema',
    summary: 'Sets the settings schema of a draft: JSON Schemas (draft 2020-12) for public and protected settings.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    body: settingsSchema.strict(),
    answers: {
      200: {
        meaning: 'The stored schema.',
        schema: versionSchema,
      },
    },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({
      status: 200,
      body: await setSettingsSchema(ctx, { ...params, schema: body }),
    }),
  }),
  route({
    method: 'PUT',
    path: '/handlers/{handler}/versions/{version}/platforms',
    operationId: 'setPlatforms',
    summary: 'Sets the platforms that a draft supports; an empty list means every platform.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    body: platformsInput,
    answers: {
      200: {
        meaning: 'The stored platforms.',
        schema: supportedPlatforms,
      },
    },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({ status: 200, body: await setPlatforms(ctx, { ...params, ...body }) }),
  }),
  route({
    method: 'POST',
    path: '/handlers/{handler}/versions/{version}/publish',
    operationId: 'publishVersion',
    summary: 'Publishes a draft, so that it can be assigned to VMs.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    answers: {
      200: {
        meaning: 'The published version.',
        schema: shownPublishedVersion,
      },
    },
    refusals: [404, 409, 422],
    run: async (ctx, { params, language }) => {
      const { warnings, ...version } = await publishVersion(ctx, params);
      return { status: 200, body: { ...version, warnings: shownWarnings(warnings, language) } };
    },
  }),
  route({
    method: 'POST',
    path: '/handlers/{handler}/versions/{version}/withdraw',
    operationId: 'withdrawVersion',
    summary:
      'Withdraws a published version. The version can no longer be assigned, but VMs that already have it keep it.',
    role: 'publisher',
    inNamespace: true,
    params: inVersion,
    body: withdrawVersionInput.pick({ reason: true }).strict(),
    answers: {
      200: {
        meaning: 'The withdrawn version.',
        schema: withdrawnVersion,
      },
    },
    refusals: [404, 409],
    run: async (ctx, { params, body }) => ({ status: 200, body: await withdrawVersion(ctx, { ...params, ...body }) }),
  }),
];
