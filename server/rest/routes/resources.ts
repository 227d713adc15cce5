import { z } from 'zod';
import { canonicalLanguage } from '#protocol/index.ts';
import { DomainError } from '#server/domain/error.ts';
import { getResources, type LanguageResources, setResources } from '#server/domain/localization/index.ts';
import { type Language, shownWarnings } from '#server/i18n/index.ts';
import { type Route, route } from '../route.ts';
import { count, inLanguage, inVersion, time, warning } from '../shapes.ts';

const coverage = z.object({
  lang: z.string(),
  translated: count,
  total: count,
  missing: z.array(z.string()),
  warnings: z.array(warning),
  revision: count,
  updatedAt: time,
  updatedBy: z.string(),
});

const shown = <T extends Pick<LanguageResources, 'warnings'>>(resources: T, language: Language) => ({
  ...resources,
  warnings: shownWarnings(resources.warnings, language),
});

/** The same call stands at the pages' own upload door. */
export const setResourcesRoute: Route = route({
  method: 'PUT',
  path: '/handlers/{handler}/versions/{version}/resources/{lang}',
  operationId: 'setResources',
  summary: 'Puts a resource file in the place of a language, also after publishing.',
  role: 'publisher',
  inNamespace: true,
  params: inLanguage,
  body: z.array(z.unknown()),
  bodyBytes: (limits) => limits.resources.fileBytes,
  takesIfMatch: true,
  answers: {
    200: {
      meaning: 'The language as it is kept, and how many messages it has.',
      schema: z.object({ lang: z.string(), messages: count, revision: count, warnings: z.array(warning) }),
    },
  },
  refusals: [404, 412],
  run: async (ctx, { params, body, ifMatch, language }) => {
    const { warnings, ...result } = await setResources(ctx, { ...params, file: body, revision: ifMatch });
    return { status: 200, body: { ...result, warnings: shownWarnings(warnings, language) } };
  },
});

export const resourceRoutes: readonly Route[] = [
  setResourcesRoute,
  route({
    method: 'GET',
    path: '/handlers/{handler}/versions/{version}/resources',
    operationId: 'listResources',
    summary: 'The languages of a version, English first, with how complete each is.',
    role: 'viewer',
    params: inVersion,
    answers: {
      200: { meaning: 'The languages.', schema: z.object({ items: z.array(coverage), nextCursor: z.null() }) },
    },
    refusals: [404],
    run: async (ctx, { params, language }) => {
      const { languages } = await getResources(ctx, params);
      const items = languages.map(({ messages: _, ...resources }) => shown(resources, language));
      return { status: 200, body: { items, nextCursor: null } };
    },
  }),
  route({
    method: 'GET',
    path: '/handlers/{handler}/versions/{version}/resources/{lang}',
    operationId: 'getResources',
    summary: 'The messages of a version in one language.',
    role: 'viewer',
    params: inLanguage,
    answers: {
      200: {
        meaning: 'The messages.',
        schema: coverage.extend({ messages: z.array(z.object({ id: z.string(), text: z.string() })) }),
      },
    },
    refusals: [404],
    run: async (ctx, { params, language }) => {
      const { languages } = await getResources(ctx, params);
      const found = languages.find(({ lang }) => lang === canonicalLanguage(params.lang));
      if (!found) throw new DomainError('not_found', 'not_found');
      return { status: 200, body: shown(found, language) };
    },
  }),
];
