import { expect, test } from 'vitest';
import type { ShownRelation, ShownService } from '../service-data.ts';
import { pictureFile } from './picture-file.ts';
import { boxHeight, boxWidth, endsOf, layoutServices, structureOf } from './picture-layout.ts';
import { neighborsOf, nextInRing, walk } from './picture-walk.ts';

const service = (name: string): ShownService => ({
  ...{ name, life: 'alive', formula: 'Acme.Lab.x', version: '1.0.0.0', exposed: false, settingsVersion: 1 },
  ...{ atOnce: 1, units: [], endpoints: [] },
});

const relation = (number: number, from: string, to: string, spoken = 'http') =>
  ({
    ...{ number, interface: spoken, life: 'alive', state: 'settled' },
    endpoints: [
      { side: 'provides', service: to, name: 'out' },
      { side: 'requires', service: from, name: 'in' },
    ],
  }) as unknown as ShownRelation;

const services = ['proxy', 'blog', 'store', 'cache', 'lone'].map(service);
const relations = [relation(1, 'proxy', 'blog'), relation(2, 'blog', 'store'), relation(3, 'blog', 'cache')];
const layout = layoutServices(services, relations);
const at = (name: string) => layout.services.get(name)!;

test('what requires is left of what provides, and no two boxes overlap', () => {
  expect(at('proxy').x).toBeLessThan(at('blog').x);
  expect(at('blog').x).toBeLessThan(at('store').x);
  const boxes = [...layout.services.values()];
  for (const [index, one] of boxes.entries()) {
    for (const other of boxes.slice(index + 1)) {
      const apart = Math.abs(one.x - other.x) >= boxWidth || Math.abs(one.y - other.y) >= boxHeight;
      expect(apart, `${one.name} and ${other.name}`).toBe(true);
    }
  }
});

test('each relation between two services is a line, even a second one between the same services', () => {
  const two = layoutServices(services, [...relations, relation(4, 'blog', 'store', 'metrics')]);
  expect(two.relations.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
  expect(new Set(two.relations.map(({ path }) => path)).size).toBe(4);
  const peer = { endpoints: [{ side: 'peer' as const, service: 'store', name: 'cluster' }] };
  expect(endsOf(peer)).toBeNull();
  expect(layoutServices(services, [relation(5, 'blog', 'gone')]).relations).toEqual([]);
});

test('the layout depends on services and relations, not on health', () => {
  const failing = services.map((one) => ({ ...one, units: [{ health: 'failed' }] as ShownService['units'] }));
  expect(structureOf(failing, relations)).toBe(structureOf(services, relations));
  expect(structureOf(services.slice(1), relations)).not.toBe(structureOf(services, relations));
});

test('arrows follow relations and move within a column, and stay where there is nothing', () => {
  expect(walk(layout, 'proxy', 'right')).toBe('blog');
  expect(walk(layout, 'blog', 'left')).toBe('proxy');
  expect(['store', 'cache']).toContain(walk(layout, 'blog', 'right'));
  expect(walk(layout, 'store', 'right')).toBe('store');
  const [upper, lower] = at('store').y < at('cache').y ? ['store', 'cache'] : ['cache', 'store'];
  expect(walk(layout, upper!, 'down')).toBe(lower);
  expect(walk(layout, lower!, 'up')).toBe(upper);
  expect(neighborsOf(layout, 'blog')).toEqual(['proxy', 'store', 'cache']);
  expect(neighborsOf(layout, 'lone')).toEqual([]);
});

test('one key walks the related services of a service, one after the other', () => {
  const first = nextInRing(null, ['proxy', 'store', 'cache'], 'blog');
  const second = nextInRing(first, ['blog'], 'proxy');
  expect([first.names[first.at], second.names[second.at]]).toEqual(['proxy', 'store']);
  const third = nextInRing(nextInRing(second, ['blog'], 'store'), ['blog'], 'cache');
  expect(third.names[third.at]).toBe('proxy');
  expect(nextInRing(second, ['blog'], 'cache')).toEqual({ names: ['blog'], at: 0 });
});

test('the file has the whole picture, with names as text and not as markup', () => {
  const file = pictureFile(layout, services, [relation(1, 'proxy', 'blog', '<b>')], () => 'a & b');
  for (const { name } of services) expect(file).toContain(`>${name}</text>`);
  expect(file).toContain('a &amp; b');
  expect(file).toContain('&lt;b&gt;');
  expect(file).not.toContain('<b>');
});

test('more services than a precise layout allows are arranged, too', () => {
  const many = Array.from({ length: 61 }, (_, index) => service(`s${index}-x`));
  const links = many.slice(1).map(({ name }, index) => relation(index + 1, name, many[index >> 1]?.name ?? ''));
  const drawn = layoutServices(many, links);
  expect([drawn.services.size, drawn.relations.length]).toEqual([61, 60]);
});
