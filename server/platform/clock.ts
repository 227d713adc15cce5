/** The portal's clock. Health is evaluated only by this clock (AZ-H3). */
export type Clock = () => Date;

export const systemClock: Clock = () => new Date();
