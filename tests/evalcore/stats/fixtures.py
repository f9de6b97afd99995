#!/usr/bin/env python3
"""Writes tests/evalcore/stats/fixtures.test: what evalcore/stats must give, computed by SciPy, statsmodels, exact
fractions or plain enumeration, none of which shares code with it.

    python3 fixtures.py > fixtures.test          writes the rows
    python3 fixtures.py --check fixtures.test    computes them again and compares; exit 77 without SciPy
"""
import itertools
import sys
from fractions import Fraction as F
from math import comb

try:
    import numpy as np
    import statsmodels.api as sm
    from scipy import optimize, stats
    from scipy.integrate import trapezoid
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.proportion import proportion_confint
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)

rows = []
rng = np.random.default_rng(20)


def row(name, given, wanted):
    show = lambda v: " ".join("nan" if x != x else f"{float(x):.12g}" for x in v)
    rows.append(f"{name} {show(given)} == {show(wanted)}")


def title(text):
    rows.append(f"\n# {text}")


def distributions():
    title("quantiles and distributions (SciPy)")
    for p in (1e-9, 1e-4, 0.025, 0.3, 0.5, 0.9, 0.9999):
        row("normal_quantile", [p], [stats.norm.ppf(p)])
        for df in (1, 2, 3.5, 29, 499):
            if p > 1e-6:
                row("t_quantile", [p, df], [stats.t.ppf(p, df)])
    for t, df in ((1e-9, 7), (-4, 3), (-0.3, 1), (0.7, 11), (2.5, 59), (12, 2)):
        row("t_cdf", [t, df], [stats.t.cdf(t, df)])
    for k, n, p in ((0, 1, 0.3), (3, 10, 0.25), (40, 64, 0.7), (480, 500, 0.95), (9, 1000, 0.01), (500, 1000, 0.45)):
        row("binomial_cdf", [k, n, p], [stats.binom.cdf(k, n, p)])


def hall(t, a):
    """Hall 1992, the transformation inverted numerically."""
    return optimize.brentq(lambda x: x + a * x ** 2 / 3 + a ** 2 * x ** 3 / 27 + a / 6 - t, -200, 200)


def one_group():
    title("k of n: Wilson, Clopper and Pearson (statsmodels)")
    for k, n in ((0, 6), (6, 6), (1, 6), (15, 30), (29, 30), (7, 60), (190, 198), (250, 500), (500, 500), (81, 263)):
        row("wilson", [k, n], np.clip(proportion_confint(k, n, method="wilson"), 0, 1))
        row("clopper_pearson", [k, n], proportion_confint(k, n, method="beta"))
    title("pass@k and maj@k (all subsets, in fractions)")
    for n, c in ((1, 0), (1, 1), (6, 2), (8, 8), (10, 3)):
        for k in range(1, n + 1, 2):
            subsets = list(itertools.combinations(range(n), k))
            row("pass_at_k", [n, c, k], [F(sum(min(s) < c for s in subsets), len(subsets))])
    row("pass_at_k", [64, 3, 16], [1 - F(comb(61, 16), comb(64, 16))])
    for votes, right in (([3, 2, 1], 0), ([3, 2, 1], 1), ([2, 2, 2, 1], 3), ([1] * 7, 2), ([4, 3], 2), ([5, 1, 1, 1], 0)):
        n = sum(votes)
        answers = [i for i, v in enumerate(votes) for _ in range(v)]
        for k in range(1, n + 1):
            won, all_ = F(0), 0
            for s in itertools.combinations(answers, k):
                all_ += 1
                tops = [i for i in set(s) if s.count(i) == max(s.count(j) for j in set(s))]
                won += F(int(right in tops), len(tops))
            row("majority", [k, right, *votes], [won / all_])
    title("means with clusters (statsmodels OLS, cluster-robust; its factor G/(G-1) is ours), the farther end of t and Hall")
    for sizes in ([1] * 8, [3, 2, 4, 1], [2] * 30, [10, 1, 1, 1, 1]):
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        v = np.round(rng.normal(size=len(cluster)) + 0.7 * rng.normal(size=len(sizes))[cluster], 6)
        fit = sm.OLS(v, np.ones(len(v))).fit(cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": True},
                                             use_t=True)
        se = fit.bse[0]
        m, groups = v.mean(), len(sizes)
        a = stats.skew(np.bincount(cluster, v - m), bias=False) / groups ** 0.5
        q = stats.t.ppf(0.975, groups - 1)
        ends = [m - se * max(q, hall(q, a)), m - se * min(-q, hall(-q, a))]
        row("average", [len(v), *cluster, *v], [m, se, *ends, groups])
    title("the same by the bootstrap: all resamples there are, the farther end of expanded percentiles and of Hall")
    for v in ([0.1, 0.4, 0.2, 1.9, 0.3], [-1, 0.25, -0.5, 0, 0.5, 0.25], [0.3, 0.5, 0.1, 0.6, 0.4, 0.75],
              [0.2, 0.5, 0.25, 0.4, 0.85, 0.45], [2, 2, 2, 2, 2]):
        n = len(v)
        means = np.array(list(itertools.product(v, repeat=n))).mean(axis=1)
        q, grow = stats.t.ppf(0.975, n - 1), (n / (n - 1)) ** 0.5
        low, high = np.quantile(means, [stats.norm.cdf(-q * grow), stats.norm.cdf(q * grow)])
        if means.std() > 0:
            a, se = stats.skew(means) * (n * (n - 1)) ** 0.5 / (n - 2), means.std() * grow
            low = min(low, max(min(v), np.mean(v) - se * hall(q, a)))
            high = max(high, min(max(v), np.mean(v) - se * hall(-q, a)))
        row("bootstrap", v, [low, high])
    title("accuracy over several samples a problem: Wilson's form with variance of a ratio, by hand")
    for sums, counts in (([4, 3, 0, 2, 4, 1], [4] * 6), ([1, 0, 7, 3], [1, 2, 8, 4]), ([1.5, 0.2, 0.9], [2, 1, 1])):
        s, c = np.array(sums, float), np.array(counts, float)
        g, m = len(s), s.sum() / c.sum()
        v = g / (g - 1) * ((s - m * c) ** 2).sum() / c.sum() ** 2
        binary = all(x == int(x) for x in sums)
        size = min(m * (1 - m) / v, c.sum() if binary else np.inf)
        z = stats.t.ppf(0.975, g - 1)
        ends = [optimize.brentq(lambda p: (m - p) * abs(m - p) - sign * z * z * p * (1 - p) / size, *where)
                for sign, where in ((1, (0, m)), (-1, (m, 1)))]
        row("clustered", [g, binary, *sums, *counts], ends)
    title("lengths, some cut off (statsmodels, product limit)")
    for x, cut in (([0.8, 1, 2.7, 3.1, 5.4, 7, 9.2, 12.1], [0, 1, 1, 0, 0, 1, 0, 1]),
                   ([5, 5, 5, 2, 2, 9, 9, 7], [0, 1, 0, 0, 1, 1, 1, 0])):
        f = sm.SurvfuncRight(x, 1 - np.array(cut))
        at = [i for i in range(len(f.surv_times)) if f.n_events[i] > 0]
        row("ecdf", [len(x), *x, *cut], [v for i in at for v in (f.surv_times[i], 1 - f.surv_prob[i])])


def brute_stratified(strata):
    """Lower and upper tail over all tables with these totals, one by one, in fractions."""
    ranges = [range(max(0, a + b - na), min(a + b, nb) + 1) for a, na, b, nb in strata]
    weight = [[F(comb(nb, k) * comb(na, a + b - k), comb(na + nb, a + b)) for k in r]
              for r, (a, na, b, nb) in zip(ranges, strata)]
    seen, lower, higher = sum(s[2] for s in strata), F(0), F(0)
    for at in itertools.product(*(range(len(r)) for r in ranges)):
        p = F(1)
        for i, j in enumerate(at):
            p *= weight[i][j]
        total = sum(ranges[i][j] for i, j in enumerate(at))
        lower += p if total <= seen else 0
        higher += p if total >= seen else 0
    return lower, higher


def two_groups():
    title("two counts (SciPy's fisher_exact)")
    for k1, n1, k2, n2 in ((8, 30, 18, 30), (0, 6, 6, 6), (121, 240, 90, 240), (3, 4, 0, 3), (465, 500, 440, 500)):
        row("fisher", [k1, n1, k2, n2], [stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue])
    for k1, n1, n2 in ((11, 30, 30), (0, 30, 30), (15, 30, 3), (60, 64, 16)):
        low = [k for k in range(n2 + 1) if k / n2 < k1 / n1 and
               stats.fisher_exact([[k1, n1 - k1], [k, n2 - k]]).pvalue < 0.05]
        high = [k for k in range(n2 + 1) if k / n2 > k1 / n1 and
                stats.fisher_exact([[k1, n1 - k1], [k, n2 - k]]).pvalue < 0.05]
        row("fisher_reach", [k1, n1, n2], [max(low, default=-1), min(high, default=n2 + 1)])
    title("McNemar (statsmodels, exact)")
    for a, b in ((0, 0), (5, 0), (0, 6), (9, 3), (40, 21), (250, 200)):
        row("mcnemar", [a, b], [mcnemar([[0, a], [b, 0]], exact=True).pvalue])
    title("the stratified test (all tables in fractions; with one stratum it is SciPy's one-sided Fisher test)")
    cases = [[(3, 4, 1, 4)], [(1, 1, 0, 1)] * 9 + [(0, 1, 1, 1)] * 3, [(0, 8, 0, 4), (8, 8, 4, 4), (5, 8, 0, 4)],
             [(6, 8, 1, 4), (2, 8, 1, 4), (8, 8, 2, 4), (3, 8, 4, 4)], [(60, 64, 9, 16), (30, 64, 9, 16), (1, 64, 2, 16)],
             [(2, 3, 2, 5), (1, 2, 0, 0), (4, 7, 1, 2)]]
    for c in cases:
        used = [s for s in c if s[1] and s[3]]
        lower, higher = brute_stratified(used)
        if len(c) == 1:
            a, na, b, nb = c[0]
            one_sided = stats.fisher_exact([[b, nb - b], [a, na - a]], alternative="less").pvalue
            assert abs(one_sided - lower) < 1e-12
        row("stratified", [x for s in c for x in s], [lower, higher, min(1, 2 * min(lower, higher))])
    title("sign flips (all of them, in fractions)")
    for unit, ks in ((1, [1, 1, 1, -1, 0, 1, 1]), (0.25, [4, -1, -2, 3, 3, 0, 1, -1, 2, 2]), (0.125, [-8, 1, 1, 1, 1, 1]),
                     (1, [0, 0])):
        nonzero = [k for k in ks if k]
        hits = sum(abs(sum(s * k for s, k in zip(signs, nonzero))) >= abs(sum(nonzero))
                   for signs in itertools.product((-1, 1), repeat=len(nonzero)))
        row("signflip", [unit, *(k * unit for k in ks)], [F(hits, 2 ** len(nonzero))])
    title("Newcombe's paired interval, method 10, from the published steps")
    for e, f, g, h in ((1, 1, 7, 12), (14, 5, 0, 22), (20, 0, 0, 10), (0, 6, 0, 0), (212, 144, 256, 707)):
        n = e + f + g + h
        pa, pb = (e + f) / n, (e + g) / n
        (la, ua), (lb, ub) = (np.clip(proportion_confint(x, n, method="wilson"), 0, 1) for x in (e + f, e + g))
        product = (e + f) * (g + h) * (e + g) * (f + h)
        cross = e * h - f * g
        phi = 0 if not product else (max(cross - n / 2, 0) if cross > 0 else cross) / product ** 0.5
        low = ((pb - lb) ** 2 - 2 * phi * (pb - lb) * (ua - pa) + (ua - pa) ** 2) ** 0.5
        high = ((ub - pb) ** 2 - 2 * phi * (ub - pb) * (pa - la) + (pa - la) ** 2) ** 0.5
        row("newcombe", [e, f, g, h], [pb - pa - low, pb - pa + high])


def restricted(x, y, n, margin):
    """The largest log-likelihood with a loss of exactly the margin, found numerically."""
    def minus(q):
        terms = ((x, q + margin), (y, q), (n - x - y, 1 - margin - 2 * q))
        return -sum(k * np.log(max(p, 1e-300)) for k, p in terms if k)
    top = (1 - margin) / 2
    grid = top * np.linspace(0, 1, 60) ** 2
    at = int(np.argmin([minus(q) for q in grid]))
    best = optimize.minimize_scalar(minus, bounds=(grid[max(at - 1, 0)], grid[min(at + 1, 59)]), method="bounded",
                                    options={"xatol": 1e-13})
    return max(-best.fun, *(-minus(q) for q in (grid[at], 0, top)))


def exact_noninferior(only_a, only_b, n, margin):
    """Barnard's test by enumeration of all outcomes, maximised over a fine grid and then refined."""
    def root(x, y):
        free = sum(k * np.log(k / n) for k in (x, y, n - x - y) if k)
        sign = -1 if y - x + n * margin < 0 else 1
        return sign * np.sqrt(2 * max(0, free - restricted(x, y, n, margin)))
    seen = root(only_a, only_b) - 1e-7
    region = [(x, y) for x in range(n + 1) for y in range(n + 1 - x) if root(x, y) >= seen]
    x, y = np.array(region, float).T
    ways = np.array([float(comb(n, i) * comb(n - i, j)) for i, j in region])
    def p(q):
        return (ways * (q + margin) ** x * q ** y * max(0, 1 - margin - 2 * q) ** (n - x - y)).sum()
    top = (1 - margin) / 2
    grid = top * np.linspace(0, 1, 3001) ** 2
    values = [p(q) for q in grid]
    at = int(np.argmax(values))
    fine = optimize.minimize_scalar(lambda q: -p(q), bounds=(grid[max(at - 1, 0)], grid[min(at + 1, 3000)]),
                                    method="bounded", options={"xatol": 1e-14})
    return min(1, max(max(values), -fine.fun))


def nonparametric_noninferior(d, margin):
    """The likeliest distribution with this mean on the values and -1, and the tail of the sum of n draws."""
    n, units = len(d), 1
    while any(abs(x * units - round(x * units)) > 1e-6 for x in d):
        units += 1
    k = np.array([round(x * units) for x in d])
    if k.mean() / units <= -margin:
        return 1
    values = np.unique(np.append(k, -units))
    count = np.array([(k == v).sum() for v in values])
    # minimise -sum count log p with sum p = 1, mean = -margin: the dual in one variable
    shift = values / units + margin
    bound = -1 / shift.min()
    gradient = lambda l: (count * shift / (1 + l * shift)).sum()
    high = bound * (1 - 1e-13)
    l = high if gradient(high) >= 0 else optimize.brentq(gradient, 0, high, xtol=1e-15)
    p = count / n / (1 + l * shift)
    p[0] += max(0, 1 - p.sum())
    one = np.zeros(2 * units + 1)
    for v, m in zip(values, p):
        one[v + units] += m
    total = np.ones(1)
    for _ in range(n):
        total = np.convolve(total, one)
    return total[k.sum() + n * units:].sum()


def given_noninferior(strata, margin):
    """Score test at the restricted maximum, found by a constrained optimiser; a single sample has no spread."""
    used = [s for s in strata if s[1] and s[3]]
    if all(s[1] == s[3] == 1 for s in used):
        return exact_noninferior(sum(s[0] > s[2] for s in used), sum(s[2] > s[0] for s in used), len(used), margin)
    if any(1 in (s[1], s[3]) for s in used):
        return nonparametric_noninferior([s[2] / s[3] - s[0] / s[1] for s in used], margin)
    a, na, b, nb = (np.array(v, float) for v in zip(*used))
    m = len(used)
    loss = (a / na - b / nb).mean()
    def shares(mu):
        def best(k, n, pull):
            f = lambda p: -(k * np.log(p) + (n - k) * np.log1p(-p) + pull * p)
            return optimize.minimize_scalar(f, bounds=(1e-12, 1 - 1e-12), method="bounded",
                                            options={"xatol": 1e-13}).x
        return (np.array([best(k, n, mu) for k, n in zip(a, na)]), np.array([best(k, n, -mu) for k, n in zip(b, nb)]))
    mu = 0
    if loss < margin:
        gap = lambda u: (shares(u)[0] - shares(u)[1]).mean() - margin
        high = 1
        while gap(high) < 0:
            high *= 2
        mu = optimize.brentq(gap, 0, high, xtol=1e-10)
    pa, pb = shares(mu)
    var = (pa * (1 - pa) / (na - 1)).sum() + (pb * (1 - pb) / (nb - 1)).sum()
    return stats.norm.cdf((loss - margin) * m / var ** 0.5)


def noninferiority():
    title("exact test of non-inferiority: enumeration, numerical maxima")
    for x, y, n, m in ((0, 0, 5, 0.05), (0, 5, 5, 0.05), (1, 0, 12, 0.1), (2, 3, 20, 0.05), (0, 1, 30, 0.05), (4, 4, 30, 0.2),
                       (1, 1, 30, 0.1), (9, 2, 24, 0.1), (0, 3, 40, 0.03)):
        row("noninferior_binary", [x, y, n, m], [exact_noninferior(x, y, n, m)])
    title("the same for means of several samples: nonparametric likelihood, convolution")
    for d, m in (([0] * 12, 0.1), ([-1] + [0] * 59, 0.05), ([0.25, -0.25, 0, 0.5, -0.25, 0, 0, 0.25] * 3, 0.1),
                 ([0.125, -0.5, 0, 0, 0.375, -0.125], 0.2), ([1, -1, 0.5, 0, 0, 0, 0, 0, 0.5, 0], 0.05)):
        row("noninferior_mean", [m, *d], [nonparametric_noninferior(d, m)])
    title("the same with the problems given: score test, numerical maximum")
    for s, m in (([(60, 64, 15, 16), (30, 64, 9, 16), (1, 64, 1, 16), (40, 64, 8, 16)], 0.1),
                 ([(4, 8, 6, 8), (7, 8, 7, 8), (2, 8, 1, 8)] * 3, 0.05), ([(3, 8, 3, 4), (8, 9, 2, 3)], 0.3),
                 ([(1, 1, 1, 1)] * 8, 0.3), ([(1, 1, 1, 1)] * 9 + [(0, 1, 1, 1), (1, 1, 0, 1), (0, 0, 1, 1)], 0.1),
                 ([(3, 4, 1, 1), (4, 4, 1, 1), (1, 4, 0, 1), (4, 4, 3, 4)] * 2, 0.2)):
        row("noninferior_strata", [m, *(x for t in s for x in t)], [given_noninferior(s, m)])


def power_of_mcnemar(n, discordance, loss, alpha):
    worse, power = (discordance + loss) / (2 * discordance), 0
    for m in range(n + 1):
        k = np.arange(m + 1)
        p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(k, m - k), m, 0.5))
        power += stats.binom.pmf(m, n, discordance) * stats.binom.pmf(k, m, worse)[p <= alpha * (1 + 1e-9)].sum()
    return power


def what_can_be_shown():
    title("smallest loss found with 80 % power: enumeration")
    for n, discordance, alpha in ((30, 0.2, 0.05), (60, 0.1, 0.05), (12, 0.5, 0.05), (198, 0.15, 0.005)):
        f = lambda loss: power_of_mcnemar(n, max(discordance, loss), loss, alpha) - 0.8
        row("mdd_mcnemar", [n, discordance, alpha], [optimize.brentq(f, 1e-6, 1)])
    title("many tests (statsmodels)")
    for p in ([0.01, 0.04, 0.03, 0.005], [0.9, 0.8], [0.02] * 5, [1e-9, 0.5, 0.049, 0.01, 0.03, 1, 0.012]):
        row("holm", p, multipletests(p, method="holm")[1])
        row("benjamini_hochberg", p, multipletests(p, method="fdr_bh")[1])


def curves():
    title("frontiers, and how far one lies above another (x1 y1 x2 y2 ...; NumPy's interp)")
    def frontier(points):
        return sorted({p for p in points if not any((q[0] <= p[0] and q[1] > p[1]) or (q[0] < p[0] and q[1] == p[1])
                                                    for q in points)})
    sets = [([(1, 0.2), (2, 0.5), (4, 0.6), (3, 0.4)], [(1, 0.1), (2, 0.2), (4, 0.6)]),
            ([(1, 0.5), (1, 0.6), (5, 0.6), (6, 0.9)], [(0, 0.1), (3, 0.7), (9, 0.8), (2, 0.7)]),
            ([(1, 1.0)], [(0, 0.5), (2, 0.75)]), ([(1, 0.4), (2, 0.5)], [(3, 0.4), (4, 0.5)])]
    for a, b in sets:
        for points in (a, b):
            row("frontier", [v for p in points for v in p], [v for p in frontier(points) for v in p])
        fa, fb = frontier(a), frontier(b)
        low, high = max(fa[0][0], fb[0][0]), min(fa[-1][0], fb[-1][0])
        above = np.nan
        if low <= high:
            x = np.unique([v for v in [low, high] + [p[0] for p in fa + fb] if low <= v <= high])
            d = np.interp(x, *zip(*fa)) - np.interp(x, *zip(*fb))
            above = trapezoid(d, x) / (high - low) if high > low else d[0]
        row("frontier_margin", [len(fa), *(v for p in fa + fb for v in p)], [above])
    title("CUSUM: Montgomery, table 9.1 (first 10, then a shift of one): C+ passes 5 at the 29th and stands at 5.28")
    x = [9.45, 7.99, 9.29, 11.66, 12.16, 10.18, 8.04, 11.46, 9.20, 10.34, 9.03, 11.47, 10.51, 9.40, 10.08, 9.37, 10.62,
         10.31, 8.52, 10.84, 10.90, 9.33, 12.29, 11.50, 10.60, 11.08, 10.38, 11.62, 11.31, 10.52]
    row("cusum", [0.5, 5, *(v - 10 for v in x[:29])], [1, 5.28])
    row("cusum", [0.5, 5, *(10 - v for v in x[:29])], [-1, 5.28])
    row("cusum", [0.5, 5, *(v - 10 for v in x[:28])], [0, 4.47])


for part in (distributions, one_group, two_groups, noninferiority, what_can_be_shown, curves):
    part()
head = "# Written by fixtures.py in this folder; NAME ARGUMENTS == RESULTS, read by test_fixtures.c."
lines = (head + "\n" + "\n".join(rows)).split("\n")

if len(sys.argv) == 3 and sys.argv[1] == "--check":
    kept = open(sys.argv[2]).read().rstrip("\n").split("\n")
    same = len(kept) == len(lines)
    if not same:
        print(f"{sys.argv[2]} has {len(kept)} lines, {len(lines)} are computed", file=sys.stderr)
    for old, new in zip(kept, lines):
        parts = [[w for w in line.split() if line and line[0] != "#"] for line in (old, new)]
        ok = len(parts[0]) == len(parts[1]) and all(
            u == v or (u[0] in "-0123456789" and abs(float(u) - float(v)) <= 1e-8 * max(1, abs(float(v))))
            for u, v in zip(*parts))
        if not ok:
            print(f"{sys.argv[2]} has\n  {old}\nand is computed as\n  {new}", file=sys.stderr)
            same = False
    sys.exit(0 if same else 1)
print("\n".join(lines))
