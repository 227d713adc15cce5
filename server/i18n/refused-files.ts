import type { InstanceView } from '#server/domain/views/index.ts';
import type { Language } from './languages.ts';
import { translateFaults } from './problem.ts';

/** Adds messages to the faults of rejected files in an instance view. */
export function translateRefusedFiles(view: InstanceView, language: Language) {
  const inWords = (refused: InstanceView['extensions'][number]['refusedStatus']) =>
    refused && { ...refused, faults: translateFaults(refused.faults, language) };
  return {
    ...view,
    extensions: view.extensions.map((extension) => ({
      ...extension,
      refusedStatus: inWords(extension.refusedStatus),
      refusedHeartbeat: inWords(extension.refusedHeartbeat),
    })),
  };
}
