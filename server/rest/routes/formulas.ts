import { z } from 'zod';
import { formulaManifest } from '#protocol/formula.ts';
import type { PackageKind } from '#protocol/formula-words.ts';
import { requireKind } from '#server/domain/packages/index.ts';
import { shownHandlerManifest } from '../answers.ts';
import type { RestRoute, RouteAnswer } from '../route.ts';
import { handlerRoutesOf } from './handlers.ts';
import { resourceRoutes } from './resources.ts';
import { versionRoutesOf } from './versions.ts';
import { xliffRoutes } from './xliff.ts';

/** The routes of packages of one kind, as they are below `/handlers`. */
const routesOf = (kind: PackageKind): readonly RestRoute[] => [
  ...handlerRoutesOf(kind),
  ...versionRoutesOf(kind),
  // These routes must precede the resource routes, which would match the suffix too.
  ...xliffRoutes,
  ...resourceRoutes,
];

/** Makes a route with `{handler}` reject packages of another kind with 404. */
export function onlyKind(kind: PackageKind, one: RestRoute): RestRoute {
  if (!('handler' in one.params.shape)) return one;
  return {
    ...one,
    async run(ctx, call) {
      const { handler } = call.params as { handler: string };
      await requireKind(ctx, handler, kind, { writes: one.inNamespace === true });
      return one.run(ctx, call);
    },
  };
}

export const handlerPackageRoutes: readonly RestRoute[] = routesOf('handler').map((one) => onlyKind('handler', one));

/** Summaries that differ from those of handlers in more than the word. */
const summaries: Readonly<Record<string, string>> = {
  publishVersion: 'Publishes a draft of a formula, so that services can use it.',
  withdrawVersion:
    'Withdraws a published version of a formula. New services can no longer use the version, but services that already have it keep it.',
  listLosses:
    'Compares a version of a formula with the highest published version below it: languages, messages, placeholders, settings, platforms, relations and hooks that are missing or differ.',
};

/** Derives the route below `/formulas` from a route below `/handlers`. Both call the same verbs. */
function formulaRoute(one: RestRoute): RestRoute {
  const { handler, ...others } = one.params.shape;
  const guarded = onlyKind('formula', one);
  return {
    ...guarded,
    path: one.path.replace('/handlers', '/formulas').replace('{handler}', '{formula}'),
    operationId: one.operationId.includes('Handler')
      ? one.operationId.replace('Handler', 'Formula')
      : one.operationId.replace(/^[a-z]+/, '$&Formula'),
    summary: summaries[one.operationId] ?? wordsOf(one.summary),
    params: z.object({ ...(handler && { formula: handler }), ...others }),
    answers: Object.fromEntries(Object.entries(one.answers).map(([status, answer]) => [status, shown(answer)])),
    run(ctx, call) {
      const { formula, ...params } = call.params as Record<string, unknown>;
      return guarded.run(ctx, { ...call, params: formula === undefined ? params : { ...params, handler: formula } });
    },
  };
}

const wordsOf = (text: string): string =>
  text.replaceAll('handler', 'formula').replace('of a version', 'of a version of a formula');

function shown({ schema, ...answer }: RouteAnswer): RouteAnswer {
  const meaning = wordsOf(answer.meaning);
  if (!(schema instanceof z.ZodObject)) return { ...answer, meaning, ...(schema && { schema }) };
  const hasManifest = schema.shape.manifest === shownHandlerManifest;
  return { ...answer, meaning, schema: hasManifest ? schema.extend({ manifest: formulaManifest }) : schema };
}

export const formulaRoutes: readonly RestRoute[] = routesOf('formula').map(formulaRoute);
