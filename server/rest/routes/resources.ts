import { z } from 'zod';
import { pageOf } from '#server/domain/answers.ts';
import { type DescribedLanguage, getLanguage, listLanguages, setResources } from '#server/domain/localization/index.ts';
import { type Language, shownWarnings } from '#server/i18n/index.ts';
import { shownLanguage, shownStoredLanguage } from '../answers.ts';
import { type RestRoute, route } from '../route.ts';
import { inLanguage, inVersion } from '../shapes.ts';

const shown = <T extends Pick<DescribedLanguage, 'warnings'>>(resources: T, language: Language) => ({
  ...resources,
  warnings: shownWarnings(resources.warnings, language),
});

/** Pages use this route for uploads, too. */
export const setResourcesRoute: RestRoute = route({
  method: 'PUT',
  path: '/handlers/{handler}/versions/{version}/resources/{lang}',
  operationId: 'setResources',
  summary: 'Replaces the resource file of a language, before or after publication.',
  role: 'publisher',
  inNamespace: true,
  params: inLanguage,
  body: z.array(z.unknown()),
  bodyBytes: (limits) => limits.resources.fileBytes,
  takesIfMatch: true,
  answers: {
    200: {
      meaning: 'The stored language, and the number of its messages.',
      schema: shownStoredLanguage,
    },
  },
  refusals: [404, 412],
  run: async (ctx, { params, body, ifMatch, language }) => {
    const { warnings, ...result } = await setResources(ctx, { ...params, file: body, revision: ifMatch });
    return { status: 200, body: { ...result, warnings: shownWarnings(warnings, language) } };
  },
});

export const resourceRoutes: readonly RestRoute[] = [
  setResourcesRoute,
  route({
    method: 'GET',
    path: '/handlers/{handler}/versions/{version}/resources',
    operationId: 'listResources',
    summary: 'Lists the languages of a version, English first, with the completeness of each.',
    role: 'viewer',
    params: inVersion,
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1_000).optional(),
      cursor: z.string().max(200).optional(),
    }),
    answers: { 200: { meaning: 'A page of languages.', schema: pageOf(shownLanguage.omit({ messages: true })) } },
    refusals: [404],
    run: async (ctx, { params, query, language }) => {
      const { items, nextCursor } = await listLanguages(ctx, { ...params, ...query });
      return { status: 200, body: { items: items.map((item) => shown(item, language)), nextCursor } };
    },
  }),
  route({
    method: 'GET',
    path: '/handlers/{handler}/versions/{version}/resources/{lang}',
    operationId: 'getResources',
    summary: 'Returns the messages of a version in one language.',
    role: 'viewer',
    params: inLanguage,
    answers: {
      200: {
        meaning: 'The messages.',
        schema: shownLanguage,
      },
    },
    refusals: [404],
    run: async (ctx, { params, language }) => {
      return { status: 200, body: shown(await getLanguage(ctx, params), language) };
    },
  }),
];
