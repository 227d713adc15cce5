import { expect, test } from 'vitest';
import { pagePath } from './page-path.ts';

test.each([
  ['/handlers/Acme.Lab.Probe', '/handlers/Acme.Lab.Probe'],
  ['/vms?tag=gr%C3%BCn&q=100%25', '/vms?tag=gr%C3%BCn&q=100%25'],
  ['/handlers/%ff', '/handlers/%25ff'],
  ['/handlers/%zz', '/handlers/%25zz'],
  ['/handlers/%', '/handlers/%25'],
  ['/handlers/a%00', '/handlers/a%2500'],
  ['/vms?q=%ff', '/vms?q=%25ff'],
])('%s leads to %s', (target, path) => {
  expect(pagePath(target)).toBe(path);
});
