// Opened from a gateway, a report leads back to its jobs and their data set; saved as a file, it leads nowhere else.

const jobsHere = () => {
  if (!location.protocol.startsWith("http")) return null;
  if (/\/reports$/.test(location.pathname)) return new URLSearchParams(location.search).getAll("job");
  const found = /\/jobs\/([^/]+)\/report$/.exec(location.pathname);
  return found && [decodeURIComponent(found[1])];
};

// The gateway may stand below a path of its host.
const gateway = () => location.pathname.replace(/(v1\/)?(reports|jobs\/[^/]+\/report)$/, "");

const drawHead = () => {
  const jobs = jobsHere();
  if (!jobs?.length) return;
  const theme = localStorage.getItem("gigavqa.theme"); // as it was chosen on the gateway's pages
  if (["light", "dark"].includes(theme)) document.documentElement.dataset.theme = theme;
  const place = byId("head");
  const at = (path, words) => el("a", { href: gateway() + path }, words);
  place.replaceChildren(at("", "gigavqa"), " / ", at("", "Jobs"), " / ",
    ...jobs.flatMap((job, number) => [number ? ", " : "", at(`jobs/${encodeURIComponent(job)}`, job)]), " / Report",
    el("span", {}, "Data set: ", at(`datasets/${encodeURIComponent(place.dataset.dataset)}`, place.dataset.dataset)));
  place.hidden = false;
};
drawHead();
