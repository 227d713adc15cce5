import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { outlineOf } from '#server/testing/openapi-outline.ts';
import { openapiDocument, refusalsOf } from './openapi.ts';
import { routes } from './routes/index.ts';

const document = openapiDocument(routes, 'http://annex.test');

test('the document is a valid OpenAPI 3.1 document', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone(document));
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
});

test('operation ids are unique', () => {
  const ids = routes.map((route) => route.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every parameter of a path is described', () => {
  for (const route of routes) {
    const named = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys(route.params.shape).toSorted(), route.operationId).toEqual(named.toSorted());
  }
});

test.each(routes.map((route) => [route.operationId, route] as const))('%s documents every status', (_id, route) => {
  const paths = document.paths as Record<string, Record<string, { responses: Record<string, unknown> }>>;
  const statuses = [...Object.keys(route.answers), ...refusalsOf(route).map(String)];
  const operation = paths[route.path]?.[route.method.toLowerCase()];
  expect(Object.keys(operation?.responses ?? {}).toSorted()).toEqual(statuses.toSorted());
});

test('the setting for automatic upgrades is described wherever it occurs', () => {
  const described = JSON.stringify(document).match(/"autoUpgradeMinorVersion":\{[^}]*\}/g) ?? [];
  expect(described.length).toBeGreaterThan(1);
  for (const property of described) expect(property).toContain('automatically');
});

test('the document keeps every published path, status, field and value', () => {
  const published = readFileSync(new URL('./openapi.outline.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const outline = outlineOf(document);
  const missing = published.filter((line) => !outline.includes(line));
  expect(missing, 'clients rely on these: never remove or rename').toEqual([]);
  const added = outline.filter((line) => !published.includes(line));
  expect(added, 'new promises: add these lines to openapi.outline.txt').toEqual([]);
});
