export const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
