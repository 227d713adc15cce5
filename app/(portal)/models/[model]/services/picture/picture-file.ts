import type { VmHealth } from '#server/domain/verdicts/words.ts';
import { healthOfService, type ShownRelation, type ShownService } from '../service-data.ts';
import { boxHeight, boxWidth, type ServiceLayout } from './picture-layout.ts';

const inks: Readonly<Record<VmHealth, string>> = {
  ...{ healthy: '#01684c', progressing: '#0b5a9d', degraded: '#8a5a00', failed: '#b42318' },
  ...{ unresponsive: '#7a2e8e', unknown: '#5b6270' },
};

/** What the file says about a service below its name. */
export type Describe = (service: ShownService) => string;

/** Returns the whole picture as the text of an SVG file, including what is not visible on the page. */
export function pictureFile(
  { width, height, services: placed, relations: lines }: ServiceLayout,
  services: readonly ShownService[],
  relations: readonly ShownRelation[],
  describe: Describe,
): string {
  const interfaceOf = new Map(relations.map((relation) => [relation.number, relation.interface]));
  const drawnLines = lines.map(
    ({ number, path, label }) =>
      `<path d="${path}" fill="none" stroke="#7b8494" stroke-width="1.5" marker-end="url(#arrow)"/>` +
      `<text x="${label.x}" y="${label.y - 5}" text-anchor="middle" font-size="11" fill="#5b6270">${escaped(interfaceOf.get(number) ?? '')}</text>`,
  );
  const boxes = services.flatMap((service) => {
    const at = placed.get(service.name);
    if (at === undefined) return [];
    const ink = inks[healthOfService(service) ?? 'unknown'];
    const line = (dy: number, size: number, color: string, text: string, weight = 400) =>
      `<text x="${at.x + 12}" y="${at.y + dy}" font-size="${size}" font-weight="${weight}" fill="${color}">${escaped(text)}</text>`;
    return [
      `<rect x="${at.x}" y="${at.y}" width="${boxWidth}" height="${boxHeight}" rx="8" fill="#fff" stroke="${ink}"/>`,
      line(24, 14, '#14181f', service.name, 600),
      line(43, 11, '#5b6270', `${service.formula} ${service.version}`),
      line(70, 12, ink, describe(service)),
    ];
  });
  const arrow =
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M1 1 7 4 1 7z" fill="#7b8494"/></marker></defs>';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${Math.ceil(width)}" height="${Math.ceil(height)}" font-family="sans-serif">${arrow}${[...drawnLines, ...boxes].join('')}</svg>`;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
