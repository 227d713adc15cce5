import { describe, expect, it } from 'vitest';
import { pageHeaders } from './page-headers.ts';

describe('the headers of a page', () => {
  it("allow only scripts with this response's nonce, and load nothing from other hosts", () => {
    const first = pageHeaders({ url: 'http://localhost:3000', development: false });
    const second = pageHeaders({ url: 'http://localhost:3000', development: false });
    expect(first.policy).not.toBe(second.policy);
    const directives = new Map(
      first.policy.split('; ').map((part) => {
        const [name = '', ...sources] = part.split(' ');
        return [name, sources] as const;
      }),
    );
    expect(directives.get('default-src')).toEqual(["'none'"]);
    expect(directives.get('script-src')).toEqual([expect.stringMatching(/^'nonce-[\w+/=]{24}'$/), "'strict-dynamic'"]);
    expect(directives.get('frame-ancestors')).toEqual(["'none'"]);
    for (const sources of directives.values()) expect(sources.join(' ')).not.toMatch(/\*|http|unsafe-eval/);
    expect(directives.get('style-src')).not.toContain("'unsafe-inline'");
  });

  it('allow a page in development to evaluate code and to open its WebSocket for reloading', () => {
    const { policy } = pageHeaders({ url: 'http://localhost:3000', development: true });
    expect(policy).toContain("'unsafe-eval'");
    expect(policy).toContain("connect-src 'self' ws:");
    expect(policy).toContain("default-src 'none'");
  });

  it('require https for later visits if the portal is reached by https, and only then', () => {
    expect(pageHeaders({ url: 'https://annex.example', development: false }).headers).toHaveProperty(
      'Strict-Transport-Security',
    );
    expect(pageHeaders({ url: 'http://localhost:3000', development: false }).headers).not.toHaveProperty(
      'Strict-Transport-Security',
    );
  });
});
