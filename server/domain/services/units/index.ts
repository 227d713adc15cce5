export { advanceUnits } from './advance-units.ts';
export { endServices } from './end-services.ts';
export { removeUnitsIn } from './remove-units.ts';
