import { z } from 'zod';
import { DomainError, type ErrorKind } from '#server/domain/error.ts';
import { parse } from '#server/domain/parse.ts';
import { parseJson } from '#server/platform/json.ts';
import type { Limits } from '#server/platform/limits.ts';

const tooLarge = (limit: number): DomainError => new DomainError('too_large', 'body_too_large', { params: { limit } });

/** Returns the media type without parameters, in lower case; null if there is none. */
function mediaType(request: Request): string | null {
  const header = request.headers.get('content-type');
  return header === null ? null : (header.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Throws 415 for a body with another media type or a content encoding. */
export function requireType(request: Request, types: readonly string[]): void {
  const type = mediaType(request);
  if (type !== null && !types.includes(type)) {
    throw new DomainError('unsupported_media_type', 'media_type_unsupported', { params: { type: types[0] ?? '' } });
  }
  const encoding = request.headers.get('content-encoding');
  if (encoding !== null && encoding.toLowerCase() !== 'identity') {
    throw new DomainError('unsupported_media_type', 'encoding_unsupported');
  }
}

const readBytes = (request: Request, limit: number) => readAll(request.body ?? [], limit);

/** Reads a stream to its end. Throws 413 above `limit` bytes. */
export async function readAll(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    parts.push(chunk);
  }
  return Buffer.concat(parts, size);
}

const kindOfJsonFault = (code: string): ErrorKind =>
  code === 'json_malformed' || code === 'json_not_utf8' ? 'bad_request' : 'unprocessable';

/**
 * Parses a JSON body and checks it against its schema. Throws 415 for another media type, 413 above `bodyBytes`, 400
 * for a malformed body or a missing one that the schema requires, and 422 with all faults.
 */
export async function readJson<S extends z.ZodType>(
  request: Request,
  schema: S,
  limits: Limits,
  bodyBytes: number,
): Promise<z.output<S>> {
  requireType(request, ['application/json']);
  if (Number(request.headers.get('content-length') ?? 0) > bodyBytes) throw tooLarge(bodyBytes);
  const bytes = await readBytes(request, bodyBytes);
  if (bytes.byteLength > 0) return parseBody(bytes, schema, limits);
  if (!isBodyOptional(schema)) throw new DomainError('bad_request', 'body_missing');
  return schema.parse(undefined);
}

/** Whether a call may omit the body, because its schema has a default. */
export const isBodyOptional = (schema: z.ZodType): boolean => schema instanceof z.ZodDefault;

const noFields = z.strictObject({});

/**
 * Checks the body of a call that takes none: it must be empty or `{}`. Throws 422 with a fault for every field, because
 * its sender expects the field to have an effect.
 */
export async function readNothing(request: Request, limits: Limits): Promise<void> {
  const bytes = await readBytes(request, limits.http.bodyBytes);
  if (bytes.byteLength === 0) return;
  requireType(request, ['application/json']);
  parseBody(bytes, noFields, limits);
}

function parseBody<S extends z.ZodType>(bytes: Uint8Array, schema: S, limits: Limits): z.output<S> {
  const { value, fault, faults } = parseJson(bytes, { maxDepth: limits.jsonDepth });
  if (fault !== null) {
    const { code, params } = fault;
    throw new DomainError(kindOfJsonFault(code), code, { params, faults });
  }
  return parse(schema, value);
}

/** Reads the complete body. Throws 415 for another media type, 413 above `limit` bytes, and 400 for an empty body. */
export async function readFile(
  request: Request,
  types: readonly string[],
  limit: number,
): Promise<Uint8Array<ArrayBuffer>> {
  requireType(request, types);
  if (Number(request.headers.get('content-length') ?? 0) > limit) throw tooLarge(limit);
  const bytes = await readBytes(request, limit);
  if (bytes.byteLength === 0) throw new DomainError('bad_request', 'body_missing');
  return bytes;
}

/** A file in a request body. The body has not been read yet, so that the verb can reject the call first. */
export interface Upload {
  bytes: AsyncIterable<Uint8Array>;
  /** Length in bytes that the sender announced, if any. */
  declared: number | undefined;
}

export const zipTypes = ['application/zip', 'application/x-zip-compressed', 'application/octet-stream'];

/** The media type of a file of any type. */
export const anyType = ['application/octet-stream'];

/**
 * Returns the body as an upload. Throws 415 for another media type. Size and rate are checked later, while the upload
 * is stored.
 */
export function readUpload(request: Request, types: readonly string[]): Upload {
  requireType(request, types);
  const length = request.headers.get('content-length');
  return { bytes: request.body ?? noBytes(), declared: length === null ? undefined : Number(length) };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}
