import { z } from 'zod';
import type { Role } from '#db/schema/auth.ts';
import type { ReaderWishes } from '#protocol/index.ts';
import type { Context } from '#server/domain/context.ts';
import type { Language } from '#server/i18n/index.ts';
import type { Upload } from './read-body.ts';
import type { FormPart } from './read-form.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A parsed and checked request. */
export interface RouteCall<P, Q, B> {
  params: P;
  query: Q;
  body: B;
  /** The incarnation or revision in `If-Match`; undefined without the header. */
  ifMatch: number | undefined;
  /** The languages that the caller prefers, for handlers' messages. */
  reader: ReaderWishes;
  /** The portal's language for this caller. */
  language: Language;
  /** The body of a route with `takesZip` or `takesStream`, as a stream; null for other routes. */
  upload: Upload | null;
  /** The parts of a form, which are read while iterating; null if the route does not take a form. */
  form: AsyncIterable<FormPart> | null;
  /** The media type that a route with `negotiates` answers with; null for other routes. */
  type: string | null;
  /** The bytes of the file that a route with `takesFile` accepts; null for other routes. */
  file: Uint8Array<ArrayBuffer> | null;
}

/** A route's response. `body` is serialized as JSON; `text` and `bytes` are sent unchanged. */
export interface RouteReply {
  status: number;
  body?: unknown;
  text?: string;
  bytes?: AsyncIterable<Uint8Array>;
  headers?: Readonly<Record<string, string>>;
}

/** A part of a form, as the OpenAPI document describes it. */
export interface FormField {
  type: 'application/zip' | 'application/json';
  meaning: string;
  required?: boolean;
  repeated?: boolean;
}

/** A successful response of a route: its meaning, and the schema of its body if it has one. */
export interface RouteAnswer {
  meaning: string;
  schema?: z.ZodType;
  /** Media types of the response, if it is not JSON. */
  types?: readonly string[];
}

type RouteAnswers = Readonly<Record<number, RouteAnswer>>;

/** A response whose body matches a documented schema. TypeScript rejects a route whose verb returns anything else. */
type DocumentedReply<A extends RouteAnswers> = Omit<RouteReply, 'body'> & {
  body?: {
    [Status in keyof A]: A[Status] extends { schema: infer Schema extends z.ZodType } ? z.output<Schema> : never;
  }[keyof A];
};

interface RouteShape {
  method: Method;
  /** Path below the prefix (such as `/api/v1`), with `{name}` for parameters. */
  path: string;
  operationId: string;
  summary: string;
  /** The minimum role; null if no token is needed. */
  role: Role | null;
  /** The grant that the caller needs besides the role. Admins need none. */
  grant?: 'scripts';
  /** The grant with which callers who lack the role may make the call too. */
  orGrant?: 'scripts';
  /** Whether the caller must also have rights in the namespace of `{handler}`. */
  inNamespace?: boolean;
  /** Whether the body is a zip, which the verb gets as a stream. */
  takesZip?: boolean;
  /** Whether the body is a file of any type, which the verb gets as a stream. */
  takesStream?: boolean;
  /** The parts of a `multipart/form-data` body, which the verb gets as they arrive. */
  takesForm?: Readonly<Record<string, FormField>>;
  /** The media types and maximum bytes of a body that is a file. The verb gets the whole file. */
  takesFile?: { types: readonly string[]; bytes: (limits: Context['config']['limits']) => number };
  /** Maximum bytes of a JSON body; by default, `limits.http.bodyBytes`. */
  bodyBytes?: (limits: Context['config']['limits']) => number;
  takesIfMatch?: boolean;
  /** Media types of the response, of which `Accept` chooses one; by default the first. */
  negotiates?: readonly string[];
  /** Query parameters that may be repeated. They are arrays in `query`. */
  repeated?: readonly string[];
  answers: RouteAnswers;
  /** Statuses of problem documents, in addition to those that `refusalsOf` derives. */
  refusals: readonly number[];
}

/** A row of the table of routes: inputs, role, responses, and the verb to call. */
export interface RestRoute extends RouteShape {
  params: z.ZodObject;
  query: z.ZodObject;
  /** The schema of the JSON body; null if the call has none. */
  body: z.ZodType | null;
  // A method instead of a property. Methods are bivariant, so typed definitions need no cast.
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

/** Creates a row. `run` gets its types from the row's schemas. */
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

/** Whether a call takes a body: JSON, a zip, a form or a file. */
export const takesBody = ({ body, takesZip, takesStream, takesForm, takesFile }: RestRoute): boolean =>
  body !== null || takesZip === true || takesStream === true || takesForm !== undefined || takesFile !== undefined;

/** The query `?limit=&cursor=&q=` of a paged list. */
export const pageQuery = z.object({
  limit: z.coerce.number().int().min(1).max(200).optional(),
  cursor: z.string().max(500).optional(),
  q: z.string().max(200).optional(),
});

/** A flag such as `?name=true`. */
export const flag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((value) => value === 'true');
