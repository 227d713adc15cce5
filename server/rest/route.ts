import { z } from 'zod';
import type { Role } from '#db/schema/auth.ts';
import type { ReaderWishes } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Language } from '#server/i18n/index.ts';
import type { Upload } from './read-body.ts';
import type { FormPart } from './read-form.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A request as a route receives it, parsed and checked. */
export interface RouteCall<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** The number in `If-Match`, an incarnation or a revision; undefined without the header. */
  ifMatch: number | undefined;
  /** The caller's languages, for messages of handlers. */
  reader: ReaderWishes;
  /** The portal's language for this caller. */
  language: Language;
  /** The zip, if the route takes one. */
  upload: Upload | null;
  /** The parts of a form, read when they are iterated. */
  form: AsyncIterable<FormPart> | null;
  /** The body, if the route takes another kind of file. */
  file: Uint8Array<ArrayBuffer> | null;
}

/** The answer of a route; the door serializes `body` as JSON, and passes `text` and `bytes` on unchanged. */
export interface RouteReply {
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
  /** May be repeated. */
  repeated?: boolean;
}

/** One success of a route: its meaning, and the schema of its body if it has one. */
export interface RouteAnswer {
  meaning: string;
  schema?: z.ZodType;
  /** Media types of an answer that is not JSON. */
  types?: readonly string[];
}

type RouteAnswers = Readonly<Record<number, RouteAnswer>>;

/** A reply whose body fits a documented answer: TypeScript rejects a verb whose result is not what the schema says. */
type DocumentedReply<A extends RouteAnswers> = Omit<RouteReply, 'body'> & {
  body?: {
    [Status in keyof A]: A[Status] extends { schema: infer Schema extends z.ZodType } ? z.output<Schema> : never;
  }[keyof A];
};

interface RouteShape {
  method: Method;
  /** Below `/api/v1`, with `{name}` for a part. */
  path: string;
  operationId: string;
  summary: string;
  /** Null: anyone, also without a token. */
  role: Role | null;
  /** The role applies only to the namespace of `{handler}`. */
  inNamespace?: boolean;
  /** The body is a zip, passed on as a stream. */
  takesZip?: boolean;
  /** The body is `multipart/form-data` with these parts, passed on as they arrive. */
  takesForm?: Readonly<Record<string, FormField>>;
  /** The body is a file of one of these media types, read completely. */
  takesFile?: { types: readonly string[]; bytes: (limits: Context['config']['limits']) => number };
  /** Maximum bytes of a JSON body; the door's usual limit if absent. */
  bodyBytes?: (limits: Context['config']['limits']) => number;
  takesIfMatch?: boolean;
  /** Query parameters that may be repeated: arrays in `query`. */
  repeated?: readonly string[];
  answers: RouteAnswers;
  /** Statuses of problem documents beyond those that every call may have. */
  refusals: readonly number[];
}

/** A row of the table: inputs, role, answers, and the verb behind the call. */
export interface RestRoute extends RouteShape {
  params: z.ZodObject;
  query: z.ZodObject;
  /** Null: the call has no JSON body. */
  body: z.ZodType | null;
  // A method, because methods are bivariant: typed definitions fit without a cast.
  run(ctx: Context, call: RouteCall<unknown, unknown, unknown>): Promise<RouteReply>;
}

interface RouteDefinition<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType, A extends RouteAnswers>
  extends RouteShape {
  answers: A;
  params?: P;
  query?: Q;
  body?: B;
  run(ctx: Context, call: RouteCall<z.output<P>, z.output<Q>, z.output<B>>): Promise<DocumentedReply<A>>;
}

const nothing = z.object({});

/** Creates a row; the verb sees the types of the row's schemas. */
export function route<
  const A extends RouteAnswers,
  P extends z.ZodObject = typeof nothing,
  Q extends z.ZodObject = typeof nothing,
  B extends z.ZodType = z.ZodUndefined,
>(definition: RouteDefinition<P, Q, B, A>): RestRoute {
  return {
    ...definition,
    params: definition.params ?? nothing,
    query: definition.query ?? nothing,
    body: definition.body ?? null,
  };
}

/** `?limit=&cursor=&q=` of a list. */
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
