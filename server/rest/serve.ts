import { Readable } from 'node:stream';
import { allow, allowRoleOrScripts, allowScripts } from '#server/domain/actor.ts';
import type { Context } from '#server/domain/context.ts';
import { languageFor, readerOf } from '#server/i18n/index.ts';
import { anyType, readFile, readJson, readNothing, readUpload, zipTypes } from './read-body.ts';
import { readForm } from './read-form.ts';
import { readIfMatch, readParams, readQuery, requireJsonWanted, typeWanted } from './read-request.ts';
import { type RestRoute, type RouteReply, takesBody } from './route.ts';

/**
 * Handles a call. Checks the role first, then the parameters, then the body, so that the body from a caller without the
 * role is never read.
 */
export async function serve(
  ctx: Context,
  route: RestRoute,
  request: Request,
  rawParams: Record<string, string>,
): Promise<Response> {
  if (route.role !== null) (route.orGrant === 'scripts' ? allowRoleOrScripts : allow)(ctx.actor, route.role);
  if (route.grant === 'scripts') allowScripts(ctx.actor);
  if (Object.values(route.answers).some((answer) => answer.schema)) requireJsonWanted(request);
  const type = route.negotiates === undefined ? null : typeWanted(request, route.negotiates);
  const params = readParams(route, rawParams);
  const query = readQuery(route, request);
  const ifMatch = route.takesIfMatch ? readIfMatch(request) : undefined;
  const { limits } = ctx.config;
  const body = route.body
    ? await readJson(request, route.body, limits, route.bodyBytes?.(limits) ?? limits.http.bodyBytes)
    : undefined;
  if (!takesBody(route)) await readNothing(request, limits);
  const upload = route.takesZip
    ? readUpload(request, zipTypes)
    : route.takesStream
      ? readUpload(request, anyType)
      : null;
  const form = route.takesForm ? readForm(request, limits) : null;
  const file = route.takesFile ? await readFile(request, route.takesFile.types, route.takesFile.bytes(limits)) : null;
  const reader = readerOf(request.headers, ctx.actor.language);
  const language = languageFor(reader);
  const call = { params, query, body, ifMatch, reader, language, type, upload, form, file };
  return responseOf(await route.run(ctx, call));
}

function responseOf({ status, body, text, bytes, headers }: RouteReply): Response {
  if (bytes !== undefined) {
    const stream = Readable.toWeb(Readable.from(bytes)) as ReadableStream<Uint8Array>;
    return new Response(stream, { status, headers: { ...guarded, ...headers } });
  }
  if (text !== undefined) return new Response(text, { status, headers: { ...guarded, ...headers } });
  if (body === undefined) return new Response(null, { status, headers });
  return jsonResponse(status, JSON.stringify(body), headers);
}

/** Responses may contain data that only this caller may see, so they must not be cached. */
const guarded = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Returns a JSON response. `text` is already serialized, with messages in the caller's language. */
export function jsonResponse(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(text, {
    status,
    headers: {
      'content-type': 'application/json',
      ...guarded,
      vary: 'Accept-Language',
      ...headers,
    },
  });
}
