import { z } from 'zod';
import type { Role } from '#db/schema/auth.ts';
import type { ReaderWishes } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Language } from '#server/i18n/index.ts';
import type { Upload } from './read-body.ts';
import type { FormPart } from './read-form.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a route gets of a request once the door has read and checked it. */
export interface Call<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** The number in `If-Match`, an incarnation or a revision; undefined where any will do. */
  ifMatch: number | undefined;
  /** What its reader asks for: for messages of handlers. */
  reader: ReaderWishes;
  /** The portal's own language for that reader. */
  language: Language;
  /** The zip of a route that takes one. */
  upload: Upload | null;
  /** The parts of a route that takes a form; nothing is read before the first is asked for. */
  form: AsyncIterable<FormPart> | null;
  /** The body of a route that takes a file of another kind. */
  file: Uint8Array<ArrayBuffer> | null;
}

/** What a route answers; the door makes JSON of `body`, and hands `text` and `bytes` on as they are. */
export interface Reply {
  status: number;
  body?: unknown;
  text?: string;
  bytes?: AsyncIterable<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
}

/** One part of a form, as the OpenAPI document describes it. */
export interface FormField {
  type: 'application/zip' | 'application/json';
  meaning: string;
  required?: boolean;
  /** May come several times. */
  repeated?: boolean;
}

/** One success of a route: what it means, and the shape of its body where it has one. */
export interface Answer {
  meaning: string;
  schema?: z.ZodType;
  /** Media type of an answer that is no JSON. */
  type?: string;
}

interface RouteShape {
  method: Method;
  /** Below `/api/v1`, with `{name}` for a part. */
  path: string;
  operationId: string;
  summary: string;
  /** Null: anyone, also without a token. */
  role: Role | null;
  /** The role counts only in the namespace of `{handler}`. */
  inNamespace?: boolean;
  /** The body is a zip, handed on as a stream. */
  takesZip?: boolean;
  /** The body is `multipart/form-data` with these parts, handed on as they arrive. */
  takesForm?: Readonly<Record<string, FormField>>;
  /** The body is a file of one of these media types, read as a whole. */
  takesFile?: { types: readonly string[]; bytes: (limits: Context['config']['limits']) => number };
  /** Bytes of a JSON body; the door's usual limit where absent. */
  bodyBytes?: (limits: Context['config']['limits']) => number;
  takesIfMatch?: boolean;
  /** Names behind `?` that may be given several times: an array in `query`. */
  repeated?: readonly string[];
  answers: Readonly<Record<number, Answer>>;
  /** Statuses of problem documents beyond those that every call may have. */
  refusals: readonly number[];
}

/** A row of the table: what a call takes, who may make it, what comes back, and the verb behind it. */
export interface Route extends RouteShape {
  params: z.ZodObject;
  query: z.ZodObject;
  /** Null: the call has no JSON body. */
  body: z.ZodType | null;
  // A method, so that the row of a typed definition fits without a cast.
  run(ctx: Context, call: Call<unknown, unknown, unknown>): Promise<Reply>;
}

interface RouteDefinition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType> extends RouteShape {
  params?: P;
  query?: Q;
  body?: B;
  run(ctx: Context, call: Call<z.output<P>, z.output<Q>, z.output<B>>): Promise<Reply>;
}

const nothing = z.object({});

/** Makes a row; the verb sees the types of its own schemas. */
export function route<
  P extends z.ZodObject = typeof nothing,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<P, Q, B>): Route {
  return {
    ...definition,
    params: definition.params ?? nothing,
    query: definition.query ?? nothing,
    body: definition.body ?? null,
  };
}

/** `?limit=&cursor=&q=` of a list that has no input of its own to take them from. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().max(500).optional(),
  q: z.string().max(200).optional(),
});

/** `?name=true` */
export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');

/** A page of a list. */
export function pageOf(item: z.ZodType): z.ZodType {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}
