import { z } from 'zod';
import { time } from '#server/domain/answers.ts';
import { problemDocument } from '#server/i18n/index.ts';
import { isBodyOptional } from './read-body.ts';
import { type FormField, type RestRoute, takesBody } from './route.ts';

type Json = { readonly [key: string]: unknown };

const meanings: Readonly<Record<number, string>> = {
  400: 'The body, a query parameter or If-Match is malformed, or a query parameter does not exist.',
  401: 'The API token is missing or not valid.',
  403: 'The token does not have the required role, namespace or grant.',
  404: 'An object that the request refers to does not exist.',
  406: 'The response is available only as JSON.',
  408: 'The request did not arrive completely within the time limit.',
  409: 'The request conflicts with the current state.',
  412: 'The state has changed: If-Match, the plan or the thumbprint is out of date.',
  413: 'The body exceeds the size limit. `detail` contains the limit.',
  415: 'The content type or content encoding is not supported.',
  422: 'The request is well-formed but not valid. `errors`, if present, lists the errors.',
  429: 'Too many requests or failed attempts. Retry later.',
  500: 'An error occurred in the portal. The portal’s log has details under the request ID.',
  503: 'The portal is temporarily unavailable, for example because the database is not responding.',
  507: 'The portal’s disk is full.',
};

const { $schema: _, ...timeSchema } = z.toJSONSchema(time);

/**
 * Returns a schema as JSON Schema, without `$schema`, because an OpenAPI 3.1 document declares one dialect for all
 * schemas. A `Date` becomes a string.
 */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date') Object.assign(jsonSchema, timeSchema);
    },
  });
  return json;
}

/**
 * Moves the `$defs` of schemas to the document's components, because `#/$defs/…` would refer to the root of the
 * document.
 */
function gatherDefinitions(paths: Json): { paths: Json; definitions: Json } {
  const definitions: Record<string, unknown> = {};
  const text = JSON.stringify(paths).replaceAll('"#/$defs/', '"#/components/schemas/');
  const gathered = JSON.parse(text, (key, value) => {
    if (key !== '$defs') return value;
    Object.assign(definitions, value);
    return undefined;
  });
  return { paths: gathered, definitions };
}

function parametersOf(schema: z.ZodObject, place: 'path' | 'query'): Json[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input') as { properties?: Json; required?: string[] };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

const ifMatch: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The incarnation or revision that you last read, in quotation marks.',
  schema: { type: 'string', examples: ['"7"'] },
};

const acceptLanguage: Json = {
  name: 'Accept-Language',
  in: 'header',
  required: false,
  description: 'Language of problem documents, warnings and messages.',
  schema: { type: 'string', examples: ['de-AT, en;q=0.5'] },
};

function formOf(fields: Readonly<Record<string, FormField>>): Json {
  const entries = Object.entries(fields);
  const properties = entries.map(([name, { meaning, repeated }]) => {
    const file = { type: 'string', contentMediaType: fields[name]?.type, description: meaning };
    return [name, repeated ? { type: 'array', items: file } : file];
  });
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  const encoding = entries.map(([name, { type }]) => [name, { contentType: type }]);
  return {
    schema: { type: 'object', properties: Object.fromEntries(properties), required, additionalProperties: false },
    encoding: Object.fromEntries(encoding),
  };
}

function requestBodyOf(route: RestRoute): Json | undefined {
  if (route.takesZip) return { required: true, content: { 'application/zip': {} } };
  if (route.takesStream) return { required: true, content: { 'application/octet-stream': {} } };
  if (route.takesForm) return { required: true, content: { 'multipart/form-data': formOf(route.takesForm) } };
  if (route.takesFile) return { required: true, content: { [route.takesFile.types[0] ?? '']: {} } };
  if (!route.body) return undefined;
  const required = !isBodyOptional(route.body);
  return { required, content: { 'application/json': { schema: schemaOf(route.body, 'input') } } };
}

/**
 * Returns the statuses of the problem documents that a call can return: the statuses that the route declares, and those
 * that follow from its inputs.
 */
export function refusalsOf(route: RestRoute): number[] {
  // A call that takes no body still reads what was sent, so that it can reject a body. `GET` requests have no body.
  const readsBody = takesBody(route) || route.method !== 'GET';
  const answersJson = Object.values(route.answers).some((answer) => answer.schema);
  return [
    ...new Set([
      ...route.refusals,
      ...(route.role === null ? [] : [401, 403, 429]),
      400,
      ...(answersJson ? [406] : []),
      ...(readsBody ? [408, 413, 415, 422] : []),
      ...(route.takesZip || route.takesStream ? [507] : []),
      500,
      503,
    ]),
  ].toSorted((a, b) => a - b);
}

const conditionsOf = ({ inNamespace, grant, orGrant }: RestRoute): string[] => [
  ...(inNamespace === true ? ['in the namespace of the handler'] : []),
  ...(grant === undefined ? [] : [`with the grant ${grant}`]),
  ...(orGrant === undefined ? [] : [`or the grant ${orGrant}`]),
];

function operationOf(route: RestRoute): Json {
  const answers = Object.entries(route.answers).map(([status, { meaning, schema, types }]) => [
    status,
    {
      description: meaning,
      ...(types && { content: Object.fromEntries(types.map((type) => [type, {}])) }),
      ...(schema && { content: { 'application/json': { schema: schemaOf(schema, 'output') } } }),
    },
  ]);
  const refusals = refusalsOf(route).map((status) => [
    String(status),
    {
      description: meanings[status] ?? 'Rejected.',
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    },
  ]);
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.role !== null && {
      description: `Role: ${[route.role, ...conditionsOf(route)].join(', ')}.`,
    }),
    tags: [route.path.split('/')[1] ?? ''],
    security: route.role === null ? [] : [{ token: [] }],
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(route.takesIfMatch ? [ifMatch] : []),
      acceptLanguage,
    ],
    ...(requestBodyOf(route) && { requestBody: requestBodyOf(route) }),
    responses: Object.fromEntries([...answers, ...refusals]),
  };
}

/** Generates the OpenAPI 3.1 document from the schemas that parse requests and define responses. */
export function openapiDocument(routes: readonly RestRoute[], url: string): Json {
  const operations: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    operations[route.path] = { ...operations[route.path], [route.method.toLowerCase()]: operationOf(route) };
  }
  const { paths, definitions } = gatherDefinitions(operations);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Annex management',
      version: '1',
      description: [
        'Manages publishers, handlers, VMs and goal states. Every error is a problem document (RFC 9457).',
        'Lists are `{ items, nextCursor }`; pass the `nextCursor` of a page as `?cursor=` to get the next page.',
        'A page contains at most about 4 MiB, so it can have fewer items than `limit`. On the last page, `nextCursor` is',
        'null. If a list inside a response is cut off because of its size, `leftOut` is the number of omitted entries.',
        'A query parameter that a call does not have is rejected with 400, and so is a misspelled one. A call without a',
        'request body rejects fields with 422. `GET /download/vms.csv` and `.jsonl`, outside of `/api/v1`, export all VMs',
        'that match the filters of `GET /vms`; `/download/activity.csv` and `.jsonl` export the activity log. Both accept',
        'API tokens.',
      ].join(' '),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: `${url}/api/v1` }],
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer', description: 'An API token of Annex.' } },
      schemas: { Problem: schemaOf(problemDocument, 'output'), ...definitions },
    },
  };
}
