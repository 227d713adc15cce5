import { formulaLanguages, formulaPackage, sampleResource } from '#samples/build.ts';
import type { Api } from './api.ts';

/** Publishes a sample formula with its messages. */
export async function publishFormula(api: Api, formula: string, version: string): Promise<void> {
  const path = `/formulas/${formula}/versions/${version}`;
  await api.call('PUT', `${path}/package`, { body: await formulaPackage(formula, version) });
  for (const lang of formulaLanguages) {
    await api.call('PUT', `${path}/resources/${lang}`, { body: sampleResource(formula, lang) });
  }
  await api.call('POST', `${path}/publish`);
}

/** Deploys a blog and its store in a bootstrapped model, and relates them. Returns the parts of their pages’ URLs. */
export async function relatedServices(
  api: Api,
  model: string,
): Promise<{ service: string; relation: string; unit: string }> {
  await api.ensurePublisher('Acme.Lab');
  for (const name of ['store', 'blog']) {
    const formula = `Acme.Lab.${name}`;
    await publishFormula(api, formula, '1.0.0.0');
    await api.call('PUT', `/models/${model}/services/${name}`, { body: { formula, version: '1.0.0.0' } });
  }
  const { number } = await api.call<{ number: number }>('POST', `/models/${model}/relations`, {
    body: { endpoints: ['blog', 'store'] },
  });
  return { service: 'blog', relation: String(number), unit: 'blog-0' };
}
